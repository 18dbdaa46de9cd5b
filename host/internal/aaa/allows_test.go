package aaa_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// What a plugin asks for on behalf of a user is decided by where and how the user came,
// as the user's own request would be.
func TestWhatIsAskedForAUserComesFromWhereTheUserCame(t *testing.T) {
	l := open(t, strings.Replace(defaultINI, "[urls]\n", `[urls]
/near = authcBasic, ip[192.0.2.0/24]
/here = authcBasic, ip[127.0.0.0/8]
/port = authcBasic, port[8443]
/safe = authcBasic, ssl
/role = authcBasic, roles[admin]
`, 1))
	at := func(port int) context.Context {
		return context.WithValue(ctx, http.LocalAddrContextKey, &net.TCPAddr{Port: port})
	}
	near := caller.Caller{User: "ann", Roles: []string{"user"}, Address: "192.0.2.7:1024"}
	for _, c := range []struct {
		what    string
		ctx     context.Context
		address string
		may     string
	}{
		{"http", at(8181), "192.0.2.7:1024", "/near"},
		{"https", aaa.OverTLS(at(8443)), "192.0.2.7:1024", "/near /port /safe"},
		{"https, IPv4 in IPv6", aaa.OverTLS(at(8443)), "[::ffff:192.0.2.7]:1024", "/near /port /safe"},
		{"another network", at(8443), "198.51.100.1:1024", "/port"},
		{"ssh", ctx, "192.0.2.7:1024", "/near"},
		{"the console of the machine", ctx, "", "/here"},
		{"no address that can be read", ctx, "nowhere", ""},
	} {
		who := near
		who.Address = c.address
		var may []string
		for _, path := range []string{"/near", "/here", "/port", "/safe", "/role"} {
			// The plugin's call has a context of its own.
			switch err := l.Allows(aaa.Through(ctx, c.ctx), who, "POST", path); {
			case err == nil:
				may = append(may, path)
			case fault.KindOf(err) != fault.Denied:
				t.Errorf("%s, %s: %v", c.what, path, err)
			}
		}
		if got := strings.Join(may, " "); got != c.may {
			t.Errorf("%s: may %q, want %q", c.what, got, c.may)
		}
	}
}
