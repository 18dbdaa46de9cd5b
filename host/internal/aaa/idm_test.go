package aaa_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const adm = "admin:admin"

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%q is not a JSON object: %v", text, err)
	}
	return o
}

// user makes a user of the domain sdn with the given roles and password "password1".
func (l *lab) user(name string, roles ...string) string {
	l.t.Helper()
	l.want(http.StatusCreated, "POST", "/auth/v1/users", adm, fmt.Sprintf(`{"name":%q,"domainid":"sdn","password":"password1"}`, name))
	for _, r := range roles {
		l.want(http.StatusCreated, "POST", "/auth/v1/domains/sdn/users/"+name+"@sdn/roles", adm, fmt.Sprintf(`{"roleid":"%s@sdn"}`, r))
	}
	return name + "@sdn"
}

func TestUsersOverHTTP(t *testing.T) {
	l := open(t, defaultINI)
	a := l.want(201, "POST", "/auth/v1/users", adm,
		`{"name":"bob","userid":"bob@sdn","password":"password1","domainid":"sdn","description":"d <&>","email":"b@x.org"}`)
	want := `{"userid":"bob@sdn","name":"bob","description":"d <&>","email":"b@x.org","enabled":true,"password":"**********","salt":"**********","domainid":"sdn"}`
	if strings.TrimSpace(a.body) != want || a.header.Get("Location") != "/auth/v1/users/bob@sdn" {
		t.Errorf("created: %s at %s", a.body, a.header.Get("Location"))
	}
	if got := l.want(200, "GET", "/auth/v1/users/bob%40sdn", adm, ""); strings.TrimSpace(got.body) != want {
		t.Errorf("read: %s", got.body)
	}
	list := object(t, l.want(200, "GET", "/auth/v1/users/", adm, "").body)
	if n := len(list["users"].([]any)); n != 3 {
		t.Errorf("%d users are listed, want 3", n)
	}
	u := object(t, l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"enabled":"false","name":"bob","salt":"**********","password":"**********"}`).body)
	if u["enabled"] != false {
		t.Errorf("disabled: %v", u)
	}
	if u := object(t, l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"description":"e"}`).body); u["enabled"] != false || u["description"] != "e" {
		t.Errorf("an update without `enabled` gives %v", u)
	}
	if p := l.want(200, "GET", "/auth/v1/users/bob@sdn?pretty-print", adm, ""); !strings.Contains(p.body, "\n  \"name\"") {
		t.Errorf("pretty-print: %s", p.body)
	}
	if h := l.want(200, "HEAD", "/auth/v1/users", adm, ""); h.body != "" {
		t.Error("HEAD answers a body")
	}
	l.want(204, "DELETE", "/auth/v1/users/bob@sdn", adm, "")
	gone := l.want(404, "GET", "/auth/v1/users/bob@sdn", adm, "")
	if e := object(t, gone.body); e["code"] != 404.0 || e["message"] != "Not Found" || !strings.Contains(e["details"].(string), "bob@sdn") {
		t.Errorf("error body %v", e)
	}
}

func TestBadRequestsToUsers(t *testing.T) {
	l := open(t, defaultINI)
	for body, says := range map[string]string{
		``:   "415",
		`[]`: "415",
		`{"name":"bob","domainid":"sdn","password":"password1"`:                           "not JSON",
		`{"name":"bob","domainid":"sdn","password":"password1"} x`:                        "text after",
		`{"name":"bob","domainid":"sdn","password":"password1","color":"red","size":1}`:   "color: there is no such member; known are: userid",
		`{"name":"bob","name":"eve","domainid":"sdn","password":"password1"}`:             "occurs twice",
		`{"domainid":"sdn","password":"password1"}`:                                       "name: this member is required",
		`{"name":"bob","password":"password1"}`:                                           "domainid: this member is required",
		`{"name":"bob","domainid":"sdn"}`:                                                 "password: this member is required",
		`{"name":7,"domainid":"sdn","password":"password1"}`:                              "name: must be a string",
		`{"name":"bob","domainid":"sdn","password":"password1","userid":"eve@sdn"}`:       "userid: the controller sets this",
		`{"name":"bob","domainid":"sdn","password":"password1","salt":"mine"}`:            "salt: the controller creates",
		`{"name":"bob","domainid":"sdn","password":"password1","enabled":"maybe"}`:        "enabled: must be true or false",
		`{"name":"bob","domainid":"sdn","password":"short"}`:                              "at least 8",
		`{"name":"b/b","domainid":"sdn","password":"password1"}`:                          "not allowed",
		`{"name":"bob","domainid":"sdn","password":"**********"}`:                         "not a valid password",
		`{"name":"bob","domainid":"sdn","password":"` + strings.Repeat("x", 257) + `"}`:   "at most 256",
		`{"name":"bob","domainid":"sdn","password":"password1","email":"not an address"}`: "e-mail",
	} {
		status := http.StatusBadRequest
		if says == "415" {
			status, says = http.StatusUnsupportedMediaType, ""
		}
		a := l.want(status, "POST", "/auth/v1/users", adm, body)
		if !strings.Contains(a.body, says) {
			t.Errorf("%s: %s, want %q", body, a.body, says)
		}
		if strings.Contains(a.body, "password1") {
			t.Errorf("the answer repeats the password: %s", a.body)
		}
	}
	l.want(409, "POST", "/auth/v1/users", adm, `{"name":"admin","domainid":"sdn","password":"password1"}`)
	l.want(413, "POST", "/auth/v1/users", adm, `{"name":"`+strings.Repeat("x", 70_000)+`"}`)
	l.want(400, "PUT", "/auth/v1/users/user@sdn", adm, `{"name":"other"}`)
	l.want(404, "PUT", "/auth/v1/users/none@sdn", adm, `{"name":"other"}`)
	l.want(409, "DELETE", "/auth/v1/users/admin@sdn", adm, "")
	if a := l.want(405, "PATCH", "/auth/v1/users", adm, "{}"); a.header.Get("Allow") != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
	l.want(204, "OPTIONS", "/auth/v1/users", adm, "")
	l.want(404, "GET", "/auth/v1/claims", adm, "")
}

func TestRolesDomainsAndGrantsOverHTTP(t *testing.T) {
	l := open(t, defaultINI)
	if a := l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`); strings.TrimSpace(a.body) !=
		`{"roleid":"ops@sdn","name":"ops","description":"","domainid":"sdn"}` {
		t.Error(a.body)
	}
	l.want(409, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	l.want(400, "POST", "/auth/v1/roles", adm, `{"domainid":"sdn"}`)
	l.want(404, "POST", "/auth/v1/roles", adm, `{"name":"x","domainid":"nowhere"}`)
	l.want(400, "PUT", "/auth/v1/roles/ops@sdn", adm, `{"name":"other"}`)
	l.want(200, "PUT", "/auth/v1/roles/ops@sdn", adm, `{"description":"d"}`)
	l.want(200, "GET", "/auth/v1/roles/ops@sdn", adm, "")
	l.want(404, "GET", "/auth/v1/roles/none@sdn", adm, "")
	l.want(409, "DELETE", "/auth/v1/roles/admin@sdn", adm, "")

	if a := l.want(201, "POST", "/auth/v1/domains", adm, `{"name":"lab","enabled":1}`); strings.TrimSpace(a.body) !=
		`{"domainid":"lab","name":"lab","description":"","enabled":true}` {
		t.Error(a.body)
	}
	l.want(400, "POST", "/auth/v1/domains", adm, `{}`)
	l.want(400, "PUT", "/auth/v1/domains/lab", adm, `{"name":"lib"}`)
	l.want(200, "PUT", "/auth/v1/domains/lab", adm, `{"description":"d","enabled":false}`)
	l.want(409, "PUT", "/auth/v1/domains/sdn", adm, `{"enabled":false}`)
	l.want(409, "DELETE", "/auth/v1/domains/sdn", adm, "")

	const grants = "/auth/v1/domains/sdn/users/user@sdn/roles"
	a := l.want(201, "POST", grants, adm, `{"roleid":"ops@sdn","userid":"user@sdn","domainid":"sdn","grantid":"user@sdn@ops@sdn@sdn"}`)
	if strings.TrimSpace(a.body) != `{"grantid":"user@sdn@ops@sdn@sdn","userid":"user@sdn","roleid":"ops@sdn","domainid":"sdn"}` {
		t.Error(a.body)
	}
	l.want(409, "POST", grants, adm, `{"roleid":"ops@sdn"}`)
	l.want(400, "POST", grants, adm, `{}`)
	l.want(404, "POST", grants, adm, `{"roleid":"none@sdn"}`)
	l.want(404, "POST", "/auth/v1/domains/none/users/user@sdn/roles", adm, `{"roleid":"ops@sdn"}`)
	roles := object(t, l.want(200, "GET", grants, adm, "").body)["roles"].([]any)
	if len(roles) != 2 {
		t.Errorf("roles %v", roles)
	}
	l.want(404, "DELETE", "/auth/v1/domains/none/users/user@sdn/roles/ops@sdn", adm, "")
	l.want(204, "DELETE", a.header.Get("Location"), adm, "")
	l.want(404, "DELETE", a.header.Get("Location"), adm, "")
	const asRole = `{"roleid":"%s","name":"ops","description":"a role","domainid":"%s"}` // as the guide of OpenDaylight has it
	l.want(400, "POST", grants, adm, fmt.Sprintf(asRole, "ops@sdn", "other"))
	l.want(404, "POST", grants, adm, fmt.Sprintf(asRole, "none@sdn", "sdn"))
	l.want(400, "POST", grants, adm, `{"roleid":"ops@sdn","name":7}`)
	if a := l.want(201, "POST", grants, adm, fmt.Sprintf(asRole, "ops@sdn", "sdn")); !strings.Contains(a.body, `"grantid":"user@sdn@ops@sdn@sdn"`) {
		t.Error(a.body)
	}
	l.want(204, "DELETE", a.header.Get("Location"), adm, "")
	l.want(409, "DELETE", "/auth/v1/domains/sdn/users/admin@sdn/roles/admin@sdn", adm, "")
	l.want(204, "DELETE", "/auth/v1/domains/lab", adm, "")
	l.want(204, "DELETE", "/auth/v1/roles/ops@sdn", adm, "")
	if v := object(t, l.want(200, "GET", "/auth/", adm, "").body); v["id"] != "v1" || v["status"] != "CURRENT" {
		t.Errorf("version resource %v", v)
	}
}

func TestListsInPages(t *testing.T) {
	l := open(t, defaultINI)
	for i := range 5 {
		l.user(fmt.Sprint("u", i))
	}
	path, seen := "/auth/v1/users?limit=3", 0
	for pages := 0; path != "" && pages < 10; pages++ {
		a := l.want(200, "GET", path, adm, "")
		seen += len(object(t, a.body)["users"].([]any))
		path = ""
		if link := a.header.Get("Link"); link != "" {
			path = link[1:strings.Index(link, ">")]
		}
	}
	if seen != 7 {
		t.Errorf("the pages hold %d users, want 7", seen)
	}
	l.want(400, "GET", "/auth/v1/users?limit=0", adm, "")
	l.want(400, "GET", "/auth/v1/users?cursor=!", adm, "")
}

func TestOddNamesCanBeDeleted(t *testing.T) {
	l := open(t, defaultINI)
	for name, escaped := range map[string]string{"x' OR '1'='1": "x'%20OR%20'1'='1", "a&<b>": "a&%3Cb%3E", "ü;%": "%C3%BC%3B%25"} {
		body, _ := json.Marshal(map[string]string{"name": name, "domainid": "sdn", "password": "password1"})
		a := l.want(201, "POST", "/auth/v1/users", adm, string(body))
		l.want(200, "GET", a.header.Get("Location"), adm, "")
		l.want(204, "DELETE", "/auth/v1/users/"+escaped+"@sdn", adm, "")
	}
	if n := len(object(t, l.want(200, "GET", "/auth/v1/users", adm, "").body)["users"].([]any)); n != 2 {
		t.Errorf("%d users are left, want 2", n)
	}
}
