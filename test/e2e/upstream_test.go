package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// TestClientsOfUpstream has the rest of the rows of package restconf's test of that name: what a client
// written for OpenDaylight meets at a whole controller, each with what was decided.
func TestClientsOfUpstream(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Ctl("feature:install ctl-aaa-cert")
	const admin, user = "admin:admin", "user:user"
	const policies = "/restconf/config/aaa:http-authorization/policies"
	for _, row := range []struct {
		row, method, path, auth, body string
		code                          int
		want                          string
	}{
		{"reads are pruned", "GET", "/rests/data", user, "", 200, `{"ietf-restconf:data":{`},
		{"what is reserved itself", "GET", "/rests/data/aaa-cert:aaa-cert-service-config", user, "", 401, ""},
		{"a write to what is around it", "PATCH", "/rests/data", user, `{"ietf-restconf:data":{}}`, 401, ""},
		{"certificates right after install", "POST", "/rests/operations/aaa-cert-rpc:getCtlCertificate", admin, "", 200, "ctl-cert"},
		{"as misspelled by upstream", "POST", "/restconf/operations/aaa-cert-rpc:getNodeCertifcate", admin, `{"input":{"node-alias":"none"}}`, 404, "none"},
		{"and spelled right", "POST", "/restconf/operations/aaa-cert-rpc:getNodeCertificate", admin, `{"input":{"node-alias":"none"}}`, 404, "none"},

		{"policies in the order of index", "PUT", policies, admin, `{"policies":{"policies":[{"index":2,"resource":"/second"},{"index":1,"resource":"/first"}]}}`, 201, ""},
		{"index of some", "PUT", policies, admin, `{"policies":{"policies":[{"index":2,"resource":"/second"},{"resource":"/first"}]}}`, 400, "index"},
		{"policies that lock out every admin", "PUT", policies, admin, `{"policies":{"policies":[{"resource":"/**","permissions":[{"role":"dog","actions":["get"]}]}]}}`, 409, "put a policy that permits it to role admin"},

		{"user without password", "POST", "/auth/v1/users", admin, `{"name":"u1","domainid":"sdn"}`, 400, "password"},
		{"unknown domain", "POST", "/auth/v1/users", admin, `{"name":"u1","password":"password","domainid":"nosuch"}`, 404, "nosuch"},
		{"unknown member", "POST", "/auth/v1/users", admin, `{"name":"u1","password":"password","domainid":"sdn","colour":"red"}`, 400, "colour"},
		{"enabled as a boolean, password with colons", "POST", "/auth/v1/users", admin, `{"name":"u1","password":"pass:wo:rd","domainid":"sdn","enabled":true}`, 201, "u1@sdn"},
		{"userid that is the computed one", "POST", "/auth/v1/users", admin, `{"userid":"u2@sdn","name":"u2","password":"password","domainid":"sdn"}`, 201, "u2@sdn"},
		{"another userid", "POST", "/auth/v1/users", admin, `{"userid":"x@sdn","name":"u3","password":"password","domainid":"sdn"}`, 400, "userid"},
		{"duplicate", "POST", "/auth/v1/users", admin, `{"name":"u1","password":"password","domainid":"sdn"}`, 409, ""},
		{"broken JSON", "POST", "/auth/v1/users", admin, "{\n\"name\":", 400, "line"},
		{"rename by PUT", "PUT", "/auth/v1/users/u2@sdn", admin, `{"name":"u9"}`, 400, "name"},
		{"grant", "POST", "/auth/v1/domains/sdn/users/u1@sdn/roles", admin, `{"roleid":"user@sdn"}`, 201, ""},
		{"login with colons", "GET", "/rests/", "u1:pass:wo:rd", "", 200, ""},
		{"delete", "DELETE", "/auth/v1/users/u1@sdn", admin, "", 204, ""},
		{"the same name again", "POST", "/auth/v1/users", admin, `{"name":"u1","password":"password","domainid":"sdn"}`, 201, ""},
		{"has no grant of the first", "GET", "/auth/v1/domains/sdn/users/u1@sdn/roles", admin, "", 200, `{"roles":[]}`},
		{"OpenAPI of all", "GET", "/apidoc/openapi.json", admin, "", 200, `"/auth/v1/users"`},
		{"in YAML", "GET", "/apidoc/openapi.yaml", admin, "", 200, "/oauth2/token"},
	} {
		a := c.Do(row.method, row.path, row.auth, row.body)
		if a.Status != row.code || !strings.Contains(a.Body, row.want) {
			t.Errorf("%s: %s %s: got %d %.600s", row.row, row.method, row.path, a.Status, a.Body)
		}
	}

	// What was read of a user can be written again: the password stays.
	read := c.Do("GET", "/auth/v1/users/u2@sdn", admin, "").JSON(t)
	again, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Do("PUT", "/auth/v1/users/u2@sdn", admin, string(again)); a.Status != 200 {
		t.Errorf("PUT of what was read: %d %s", a.Status, a.Body)
	}
	c.Do("POST", "/auth/v1/domains/sdn/users/u2@sdn/roles", admin, `{"roleid":"user@sdn"}`)
	if a := c.Do("GET", "/rests/", "u2:password", ""); a.Status != 200 {
		t.Errorf("the password of a user who was read and written: %d", a.Status)
	}

	// HTTP/2 by prior knowledge.
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	dialer := &net.Dialer{}
	two := &http.Client{Transport: &http.Transport{Protocols: protocols, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}}}
	req, _ := http.NewRequest("GET", c.HTTP+"/rests/", nil)
	req.SetBasicAuth("user", "user")
	res, err := two.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 || res.StatusCode != 200 {
		t.Errorf("HTTP/2 by prior knowledge: %s %s", res.Proto, res.Status)
	}
	two.CloseIdleConnections()
}
