package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

const jsonPolicies = "/restconf/config/aaa:http-authorization/policies"

// form posts fields to one of the token endpoints.
func (c *controller) form(path string, fields ...string) harness.Answer {
	c.t.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequest("POST", c.HTTP+path, strings.NewReader(v.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.Send(req)
}

// The cases by which clients of the old system know it, with this system's statuses:
// 200 for a token, 400 invalid_grant without naming the user, 409 for what exists.
func TestOldClientsFindWhatTheyKnow(t *testing.T) {
	c := start(t, harness.NewHome(t))
	t.Run("tokens", func(t *testing.T) {
		a := c.form("/oauth2/token", "grant_type", "password", "username", "admin", "password", "admin", "scope", "sdn",
			"client_id", "dlux", "client_secret", "secrete")
		token, _ := a.JSON(t)["access_token"].(string)
		if a.Status != http.StatusOK || !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(token) {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		unknown := c.form("/oauth2/token", "grant_type", "password", "username", "notTheAdmin", "password", "admin", "scope", "sdn")
		wrong := c.form("/oauth2/token", "grant_type", "password", "username", "user", "password", "wrong", "scope", "sdn")
		if unknown.Status != http.StatusBadRequest || unknown.Body != wrong.Body || !strings.Contains(wrong.Body, "invalid_grant") {
			t.Errorf("unknown %d %s; wrong %d %s", unknown.Status, unknown.Body, wrong.Status, wrong.Body)
		}
		for _, k := range []struct {
			auth string
			want int
		}{{"Bearer " + token, 200}, {"Bearer notARealToken", 401}} {
			if a := c.Do("GET", "/restconf/modules", k.auth, ""); a.Status != k.want {
				t.Errorf("%s: %d, want %d", k.auth, a.Status, k.want)
			}
		}
		c.Restart()
		if a := c.Do("GET", "/restconf/modules", "Bearer "+token, ""); a.Status != http.StatusOK {
			t.Errorf("the token after a restart: %d", a.Status)
		}
		if a := c.form("/oauth2/revoke", "token", token); a.Status/100 != 2 {
			t.Errorf("revoke: %d %s", a.Status, a.Body)
		}
		if a := c.Do("GET", "/restconf/modules", "Bearer "+token, ""); a.Status != http.StatusUnauthorized {
			t.Errorf("a revoked token: %d", a.Status)
		}
	})
	for _, k := range []struct {
		method, path, auth, body string
		want                     int
	}{
		{"POST", "/auth/v1/users", admin, `{"name":"ryan","userid":"ryan@sdn","password":"ryan's own","domainid":"sdn","description":"d","email":"r@example.com"}`, 201},
		{"POST", "/auth/v1/users", admin, `{"name":"ryan","password":"ryan's own","domainid":"sdn"}`, 409},
		{"POST", "/auth/v1/users", admin, `{"password":"ryan's own","domainid":"sdn"}`, 400},
		{"POST", "/auth/v1/users", admin, `{"name":"x","userid":"y@sdn","password":"ryan's own","domainid":"sdn"}`, 400},
		{"POST", "/auth/v1/users", user, `{}`, 401},
		{"GET", "/auth/v1/users/ryan@sdn", admin, "", 200},
		{"PUT", "/auth/v1/users/ryan@sdn", admin, `{"description":"new"}`, 200},
		{"POST", "/auth/v1/roles", admin, `{"description":"no name"}`, 400},
		{"POST", "/auth/v1/roles", admin, `{"name":"dog","domainid":"sdn"}`, 201},
		{"POST", "/auth/v1/domains/sdn/users/ryan@sdn/roles", admin, `{"roleid":"dog@sdn"}`, 201},
		{"POST", "/auth/v1/domains/sdn/users/ryan@sdn/roles", admin, `{"roleid":"dog@sdn"}`, 409},
		{"POST", "/auth/v1/domains/nowhere/users/ryan@sdn/roles", admin, `{"roleid":"dog@sdn"}`, 404},
		{"GET", "/auth/v1/domains/sdn/users/ryan@sdn/roles", admin, "", 200},
		{"GET", "/restconf/modules", "ryan:ryan's own", "", 200},
		{"PUT", jsonPolicies, admin, policies("/restconf/modules/**", "admin", "get", "/restconf/streams/**", "dog", "get"), 201},
		{"GET", "/restconf/modules", "ryan:ryan's own", "", 401},
		{"GET", "/restconf/modules/", user, "", 401},
		{"GET", "/restconf/%6dodules", user, "", 401},
		{"GET", "/restconf/modules", admin, "", 200},
		{"GET", "/restconf/streams", "ryan:ryan's own", "", 200},
		{"GET", "/restconf/streams", admin, "", 401},
		{"DELETE", jsonPolicies, user, "", 401},
		{"DELETE", jsonPolicies, admin, "", 200},
		{"GET", "/restconf/modules", user, "", 200},
		{"DELETE", "/auth/v1/domains/nowhere/users/ryan@sdn/roles/dog@sdn", admin, "", 404},
		{"DELETE", "/auth/v1/domains/sdn/users/ryan@sdn/roles/dog@sdn", admin, "", 204},
		{"DELETE", "/auth/v1/users/ryan@sdn", admin, "", 204},
		{"GET", "/auth/v1/users/ryan@sdn", admin, "", 404},
		{"GET", "/restconf/modules", "ryan:ryan's own", "", 401},
		{"DELETE", "/auth/v1/users/admin@sdn", admin, "", 409},
	} {
		a := c.Do(k.method, k.path, k.auth, k.body)
		if a.Status != k.want {
			t.Errorf("%s %s %s as %q: %d %s, want %d", k.method, k.path, k.body, k.auth, a.Status, a.Body, k.want)
		}
		if strings.Contains(a.Body, "ryan's own") {
			t.Errorf("%s %s shows a password: %s", k.method, k.path, a.Body)
		}
	}
}

// policies is the documented body; each policy is a resource, a role and its actions.
func policies(words ...string) string {
	type object map[string]any
	list := []object{}
	for i := 0; i+2 < len(words); i += 3 {
		list = append(list, object{"aaa:resource": words[i],
			"aaa:permissions": []object{{"aaa:role": words[i+1], "aaa:actions": strings.Fields(words[i+2])}}})
	}
	b, _ := json.Marshal(object{"aaa:policies": object{"aaa:policies": list}})
	return string(b)
}
