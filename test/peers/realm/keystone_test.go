//go:build peers

package realmpeers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"ctl.internal/test/harness"
)

// startKeystone runs an identity service with the user admin of the domain Default.
func startKeystone(t *testing.T) (url string, d *daemon) {
	t.Helper()
	manage, public := program(t, "keystone-manage"), program(t, "keystone-wsgi-public")
	program(t, "/usr/bin/python3")
	dir, port := t.TempDir(), free(t)
	for _, sub := range []string{"fernet", "credential"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	conf := write(t, filepath.Join(dir, "keystone.conf"), fmt.Sprintf(`[database]
connection = sqlite:///%[1]s/keystone.db
[fernet_tokens]
key_repository = %[1]s/fernet
[credential]
key_repository = %[1]s/credential
[identity]
password_hash_rounds = 4
`, dir))
	url = fmt.Sprintf("http://127.0.0.1:%d", port)
	must(t, nil, manage, "--config-file", conf, "db_sync")
	// Without a write-ahead log each write of the server hangs on a lock.
	must(t, nil, "/usr/bin/python3", "-c", "import sqlite3,sys;sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=WAL')", filepath.Join(dir, "keystone.db"))
	for _, setup := range []string{"fernet_setup", "credential_setup"} {
		must(t, nil, manage, "--config-file", conf, setup, "--keystone-user", "root", "--keystone-group", "root")
	}
	must(t, nil, manage, "--config-file", conf, "bootstrap", "--bootstrap-password", "adminpw", "--bootstrap-public-url", url+"/v3/",
		"--bootstrap-admin-url", url+"/v3/", "--bootstrap-internal-url", url+"/v3/", "--bootstrap-region-id", "RegionOne")
	d = serve(t, fmt.Sprintf("127.0.0.1:%d", port), []string{"OS_KEYSTONE_CONFIG_FILES=" + conf}, public, "-b", "127.0.0.1", "-p", fmt.Sprint(port))
	return url, d
}

// identity is a client of the service that makes users.
type identity struct {
	t          *testing.T
	url, token string
}

func (i *identity) do(method, path string, in any) (out map[string]map[string]any) {
	i.t.Helper()
	var text []byte
	if in != nil {
		text, _ = json.Marshal(in)
	}
	r, err := http.NewRequest(method, i.url+"/v3"+path, bytes.NewReader(text))
	if err != nil {
		i.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Auth-Token", i.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		i.t.Fatalf("%s %s: %s", method, path, answer.Status)
	}
	if token := answer.Header.Get("X-Subject-Token"); token != "" {
		i.token = token
	}
	_ = json.NewDecoder(answer.Body).Decode(&out) // some answers are empty
	return out
}

type object = map[string]any

func TestKeystone(t *testing.T) {
	url, server := startKeystone(t)
	i := &identity{t: t, url: url}
	i.do("POST", "/auth/tokens", object{"auth": object{"identity": object{"methods": []string{"password"}, "password": object{"user": object{
		"name": "admin", "password": "adminpw", "domain": object{"name": "Default"}}}}, "scope": object{"project": object{"name": "admin", "domain": object{"name": "Default"}}}}})
	role := i.do("POST", "/roles", object{"role": object{"name": "operator"}})["role"]["id"]
	domain := i.do("POST", "/domains", object{"domain": object{"name": "lab"}})["domain"]["id"]
	for name, enabled := range map[string]bool{"olga": true, "off": false, "rootless": true} {
		id := i.do("POST", "/users", object{"user": object{"name": name, "password": "pw:x", "domain_id": domain, "enabled": enabled}})["user"]["id"]
		if name != "rootless" {
			i.do("PUT", fmt.Sprintf("/domains/%s/users/%s/roles/%s", domain, id, role), nil)
		}
	}
	admin := i.do("POST", "/users", object{"user": object{"name": "chief", "password": "chiefpw", "domain_id": "default"}})["user"]["id"]
	adminRole := i.do("POST", "/roles", object{"role": object{"name": "lead"}})["role"]["id"]
	i.do("PUT", fmt.Sprintf("/domains/default/users/%s/roles/%s", admin, adminRole), nil)

	c := harness.Start(t, bin, secini("idSvcAuthRealm = org.ctl.aaa.sec.realm.IdSvcAuthRealm\nidSvcAuthRealm.url = "+url, "$idSvcAuthRealm"))
	c.Ctl("feature:install ctl-realm-idsvc")
	logins(t, c, []loginCase{
		{"no domain", "chief", "chiefpw", 200, 401},
		{"domain", "olga@lab", "pw:x", 200, 401},
		{"wrong password", "olga@lab", "pw", 401, 401},
		{"unknown", "nobody@lab", "pw:x", 401, 401},
		{"wrong domain", "olga@nowhere", "pw:x", 401, 401},
		{"domain missing", "olga", "pw:x", 401, 401},
		{"disabled", "off@lab", "pw:x", 401, 401},
		{"no role in the domain", "rootless@lab", "pw:x", 401, 401},
		{"local", "admin", "admin", 200, 200},
	})
	server.kill()
	logins(t, c, []loginCase{{"server down", "nobody@lab", "x", 401, 401}, {"local", "user", "user", 200, 401}})
}
