package aaa_test

import (
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/reqpath"
)

const shippedINI = `[urls]
/restconf/config/aaa*/** = authcBasic, roles[admin]
/rests/data/aaa*/** = authcBasic, roles[admin]
/** = authcBasic, dynamicAuthorization
`

// TestSecondAddressIsNoWayAround asks for guarded data by names that the rules do
// not speak of.
func TestSecondAddressIsNoWayAround(t *testing.T) {
	other := func(_ bool, below []reqpath.Segment) [][]reqpath.Segment {
		names := map[string]string{"http-authorization": "aaa:http-authorization", "misc-config:add-vlan": "config:add-vlan"}
		if n := names[below[0].Decoded]; n != "" {
			return [][]reqpath.Segment{append([]reqpath.Segment{{Raw: n, Decoded: n}}, below[1:]...)}
		}
		return nil
	}
	l := open(t, shippedINI, func(o *aaa.Options) { o.Names = other })
	must(t, l.Policies().Set([]policy.Policy{permit("/restconf/operations/config:add-vlan", "admin", "post")}))
	for _, path := range []string{
		"/restconf/config/aaa:http-authorization", "/restconf/config/http-authorization", "/rests/data/http-authorization/policies",
		"/restconf/data/aaa:http-authorization", "/restconf/data/http-authorization/policies",
	} {
		l.want(401, "GET", path, "user:user", "")
		l.want(200, "GET", path, adm, "")
	}
	for _, path := range []string{"/restconf/data", "/restconf/config", "/rests/data"} { // reads are pruned (TestReadable)
		l.want(200, "GET", path, "user:user", "")
		l.want(401, "PUT", path, "user:user", "{}")
		l.want(401, "PATCH", path, "user:user", "{}")
		l.want(401, "GET", path, "user:wrong", "")
	}
	l.want(401, "POST", "/restconf/operations/misc-config:add-vlan", "user:user", "{}")
	l.want(200, "POST", "/restconf/operations/misc-config:add-vlan", adm, "{}")
	l.want(200, "GET", "/restconf/data/m:other", "user:user", "")
}
