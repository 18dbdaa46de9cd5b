package aaa_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/sdk/realm"
)

// The cases of the old system's own collection, in its order. Where a decision
// differs from what it did, the case says so.

const modules = "/restconf/modules"

func TestCase1To4Basic(t *testing.T) {
	l := open(t, defaultINI)
	for _, path := range []string{modules, "/jolokia"} {
		for _, auth := range []string{"", "admin:bad", "bad:admin"} {
			if a := l.want(401, "GET", path, auth, ""); !strings.Contains(strings.ToUpper(a.header.Get("WWW-Authenticate")), "BASIC") {
				t.Error("the challenge does not name BASIC")
			}
		}
		l.want(200, "GET", path, adm, "")
	}
	l.want(401, "GET", "/auth/v1/users", "user:user", "")
}

func TestCase5To9Tokens(t *testing.T) {
	l := open(t, defaultINI)
	tok := l.token("admin", "admin") // 200, not 201 (RFC 6749)
	// 400 invalid_grant for everyone, not 401 with the user's name.
	l.want(400, "POST", "/oauth2/token", "", passwordForm+"notTheAdmin&password=admin")
	l.want(200, "POST", "/oauth2/token", "", passwordForm+"admin&password=admin&client_id=dlux&client_secret=secrete")
	l.want(200, "GET", modules, tok, "")
	l.want(401, "GET", modules, "bearer notARealToken", "")
	l.want(204, "POST", "/oauth2/revoke", "", tok[7:])
	l.want(401, "GET", modules, tok, "")
}

func TestCase10AuthenticationOffAndOn(t *testing.T) {
	off := open(t, "[urls]\n/** = anon\n")
	off.want(200, "GET", modules, "", "")
	on := open(t, defaultINI)
	on.want(401, "GET", modules, "bearer notARealToken", "")
}

func TestCase11And12CRUD(t *testing.T) {
	l := open(t, defaultINI)
	for kind, c := range map[string]struct{ body, id, change string }{
		"users":   {`{"name":"n","domainid":"sdn","password":"password1","enabled":"true"}`, "n@sdn", `{"description":"d"}`},
		"roles":   {`{"name":"n","domainid":"sdn"}`, "n@sdn", `{"description":"d"}`},
		"domains": {`{"name":"n","enabled":true}`, "n", `{"description":"d"}`},
	} {
		one := "/auth/v1/" + kind + "/" + c.id
		l.want(201, "POST", "/auth/v1/"+kind, adm, c.body)
		l.want(200, "GET", one, adm, "")
		if a := l.want(200, "PUT", one, adm, c.change); object(t, a.body)["description"] != "d" {
			t.Errorf("%s: %s", one, a.body)
		}
		l.want(204, "DELETE", one, adm, "")
		if a := l.want(404, "GET", one, adm, ""); !strings.Contains(a.body, c.id) {
			t.Errorf("the answer to %s does not name it: %s", one, a.body)
		}
	}
	const grants = "/auth/v1/domains/sdn/users/user@sdn/roles"
	l.want(201, "POST", grants, adm, `{"roleid":"admin@sdn"}`)
	l.want(409, "POST", grants, adm, `{"roleid":"admin@sdn"}`) // not 403
	l.want(404, "POST", "/auth/v1/domains/x/users/user@sdn/roles", adm, `{"roleid":"admin@sdn"}`)
	l.want(200, "GET", grants, adm, "")
	l.want(404, "DELETE", "/auth/v1/domains/x/users/user@sdn/roles/admin@sdn", adm, "")
	l.want(204, "DELETE", grants+"/admin@sdn", adm, "")
}

func TestCase13InvalidBodies(t *testing.T) {
	l := open(t, defaultINI)
	l.want(400, "POST", "/auth/v1/roles", adm, `{"domainid":"sdn"}`) // not 404
	l.want(400, "POST", "/auth/v1/users", adm, `{"domainid":"sdn","password":"password1"}`)
	l.want(400, "POST", "/auth/v1/users", adm, `{"name":"n","userid":"m@sdn","domainid":"sdn","password":"password1"}`)
	// An id that is the computed one is accepted: the documented sample sends it.
	l.want(201, "POST", "/auth/v1/users", adm, `{"name":"n","userid":"n@sdn","domainid":"sdn","password":"password1"}`)
}

// directory is an outside realm: users by name@domain, or down.
type directory struct {
	users    map[string]string
	roles    []string
	fallback string
	down     bool
	asked    int
	epoch    uint64
}

func (d *directory) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	d.asked++
	if d.down {
		return realm.Result{}, errors.New("connection refused")
	}
	if c.Domain == "" {
		c.Domain = d.fallback
	}
	if pw, ok := d.users[c.User+"@"+c.Domain]; !ok || pw != c.Password {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User, Roles: d.roles}, nil
}

func (d *directory) Close() error { return nil }

// Realm makes a directory the source of all outside realms.
func (d *directory) Realm(context.Context, realm.Config) (realm.Realm, error) { return d, nil }
func (d *directory) Epoch(string) uint64                                      { return d.epoch }

const idsvcINI = `[main]
idSvcAuthRealm = org.ctl.aaa.sec.realm.IdSvcAuthRealm
idSvcAuthRealm.url = https://127.0.0.1:35357
securityManager.realms = $idSvcAuthRealm
[urls]
/** = authcBasic, roles[admin]
`

func TestCase14IdentityServiceRealm(t *testing.T) {
	d := &directory{users: map[string]string{"sdnadmin@sdn": "pw", "other@Default": "pw"}, roles: []string{"admin"}, fallback: "Default"}
	l := open(t, idsvcINI, func(o *aaa.Options) { o.Realms = d })
	l.want(200, "GET", modules, "sdnadmin@sdn:pw", "")
	l.want(200, "GET", modules, "other:pw", "")
	for _, auth := range []string{"wrong@sdn:pw", "sdnadmin:pw", "sdnadmin@wrong:pw", "sdnadmin@sdn:bad"} {
		l.want(401, "GET", modules, auth, "")
	}
	l.want(401, "GET", modules, adm, "") // the local realm is not in the list
	down := &directory{down: true}
	l = open(t, idsvcINI, func(o *aaa.Options) { o.Realms = down })
	l.want(503, "POST", "/restconf/operations/aaa-cert-rpc:getCtlCertificate", "sdnadmin@sdn:pw", "")
	down.down, down.users, down.roles = false, map[string]string{"sdnadmin@sdn": "pw"}, []string{"admin"}
	l.want(200, "GET", modules, "sdnadmin@sdn:pw", "") // being down was not kept as a refusal
}

func permit(resource, role string, actions ...string) policy.Policy {
	return policy.Policy{Resource: resource, Permissions: []policy.Permission{{Role: role, Actions: actions}}}
}

var everything = []string{"get", "post", "put", "patch", "delete"}

func TestCase15StaticAndDynamicBothDecide(t *testing.T) {
	l := open(t, "[urls]\n/restconf/operations/aaa-cert-rpc** = authcBasic, roles[admin], dynamicAuthorization\n/** = authcBasic, dynamicAuthorization\n")
	must(t, l.Policies().Set([]policy.Policy{permit("/**", "user", everything...)}))
	l.want(401, "POST", "/restconf/operations/aaa-cert-rpc:getCtlCertificate", "user:user", "")
	l.want(200, "GET", modules, "user:user", "")
}

func TestCase16RoleOfAPolicy(t *testing.T) {
	l := open(t, defaultINI)
	l.user("only", "admin")
	must(t, l.Policies().Set([]policy.Policy{permit("/restconf/operational/**", "user", everything...)}))
	l.want(401, "GET", "/restconf/operational/x", "only:password1", "")
	l.want(200, "GET", "/restconf/operational/x", "user:user", "")
}

func TestCase17OrderOfPolicies(t *testing.T) {
	l := open(t, defaultINI)
	wide, narrow := permit("/**", "admin", everything...), permit("/specialendpoint/**", "dog", everything...)
	special := []string{"/specialendpoint", "/specialendpoint/", "/specialendpoint/x"}
	must(t, l.Policies().Set([]policy.Policy{wide, narrow}))
	for _, p := range special {
		l.want(200, "GET", p, adm, "")
	}
	must(t, l.Policies().Set([]policy.Policy{narrow, wide}))
	for _, p := range special {
		l.want(401, "GET", p, adm, "")
	}
	l.want(200, "GET", "/abc", adm, "")
}

func TestCase18Actions(t *testing.T) {
	l := open(t, defaultINI)
	must(t, l.Policies().Set([]policy.Policy{permit("/data/**", "user", "get"), {Resource: "/none/**"}}))
	l.want(200, "GET", "/data/x", "user:user", "")
	l.want(200, "HEAD", "/data/x", "user:user", "") // as GET, not denied
	l.want(200, "OPTIONS", "/data/x", "user:user", "")
	l.want(401, "PUT", "/data/x", "user:user", "{}")
	l.want(401, "GET", "/none/x", adm, "")
	must(t, l.Policies().Set(nil))
	l.want(200, "PUT", "/data/x", "user:user", "{}")
	l.Policies().Fail()
	l.want(401, "GET", "/data/x", adm, "")
}

// Case 19 is TLS, which the server's listener does; case 20 is LDAP, which the
// realm's plugin does: what the host does with their roles is case 14.

func TestCase20RefreshGrant(t *testing.T) {
	l := open(t, defaultINI)
	_, refresh := l.login("user", "user")
	a := l.want(200, "POST", "/oauth2/token", "", "grant_type=refresh_token&refresh_token="+refresh)
	l.want(200, "GET", modules, fmt.Sprint("bearer ", object(t, a.body)["access_token"]), "")
}
