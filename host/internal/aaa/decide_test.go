package aaa_test

import (
	"strings"
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
	qualify := func(p reqpath.Path) []string {
		if s := p.Canonical(); strings.Contains(s, "/http-authorization") {
			return []string{strings.Replace(s, "/http-authorization", "/aaa:http-authorization", 1)}
		}
		if p.Is("restconf", "operations", "misc-config:add-vlan") {
			return []string{"/restconf/operations/config:add-vlan"}
		}
		return nil
	}
	l := open(t, shippedINI, func(o *aaa.Options) { o.Same = qualify })
	must(t, l.Policies().Set([]policy.Policy{permit("/restconf/operations/config:add-vlan", "admin", "post")}))
	for _, path := range []string{
		"/restconf/config/aaa:http-authorization", "/restconf/config/http-authorization", "/rests/data/http-authorization/policies",
		"/restconf/data/aaa:http-authorization", "/restconf/data/http-authorization/policies", "/restconf/data", "/restconf/config", "/rests/data",
	} {
		l.want(401, "GET", path, "user:user", "")
		l.want(200, "GET", path, adm, "")
	}
	l.want(401, "POST", "/restconf/operations/misc-config:add-vlan", "user:user", "{}")
	l.want(200, "POST", "/restconf/operations/misc-config:add-vlan", adm, "{}")
	l.want(200, "GET", "/restconf/data/m:other", "user:user", "")
}
