//go:build peers

package realmpeers

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// keystone is a running identity service with the user admin of the domain Default.
type keystone struct {
	*daemon
	plain, secure string
	command       []string
}

func startKeystone(t *testing.T, cert, key string) *keystone {
	t.Helper()
	manage, public, server := program(t, "keystone-manage"), program(t, "keystone-wsgi-public"), program(t, "uwsgi")
	program(t, "/usr/bin/python3")
	dir := reserve.Dir(t, "ctl-keystone")
	for _, keys := range []string{"fernet", "credential"} {
		if err := os.Mkdir(filepath.Join(dir, keys), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"0", "1"} {
			secret := make([]byte, 32)
			_, _ = rand.Read(secret)
			write(t, filepath.Join(dir, keys, name), base64.URLEncoding.EncodeToString(secret))
		}
	}
	conf := write(t, filepath.Join(dir, "keystone.conf"), fmt.Sprintf(`[database]
connection = sqlite:///%[1]s/keystone.db
[fernet_tokens]
key_repository = %[1]s/fernet
[fernet_receipts]
key_repository = %[1]s/fernet
[credential]
key_repository = %[1]s/credential
[identity]
password_hash_rounds = 4
`, dir))
	plain, secure := fmt.Sprintf("127.0.0.1:%d", free(t)), fmt.Sprintf("127.0.0.1:%d", free(t))
	k := &keystone{plain: "http://" + plain, secure: "https://" + secure}
	must(t, nil, manage, "--config-file", conf, "db_sync")
	// Without a write-ahead log each write of the server hangs on a lock.
	must(t, nil, "/usr/bin/python3", "-c", "import sqlite3,sys;sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=WAL')", filepath.Join(dir, "keystone.db"))
	must(t, nil, manage, "--config-file", conf, "bootstrap", "--bootstrap-password", "adminpw", "--bootstrap-public-url", k.plain+"/v3/",
		"--bootstrap-admin-url", k.plain+"/v3/", "--bootstrap-internal-url", k.plain+"/v3/", "--bootstrap-region-id", "RegionOne")
	k.command = []string{server, "--plugin", "python3", "--http-socket", plain, "--https-socket", secure + "," + cert + "," + key,
		"--wsgi-file", public, "--buffer-size", "65535", "--need-app", "--enable-threads", "--threads", "4", "--env", "OS_KEYSTONE_CONFIG_FILES=" + conf}
	k.start(t)
	return k
}

func (k *keystone) start(t *testing.T) {
	t.Helper()
	k.daemon = serve(t, strings.TrimPrefix(k.secure, "https://"), nil, k.command[0], k.command[1:]...)
}

// identity is a client of the service that makes users.
type identity struct {
	t          *testing.T
	url, token string
}

type object = map[string]any

// answer is one of the service: objects by their name.
type answer object

func (a answer) id(name string) string { return fmt.Sprint(a[name].(object)["id"]) }

func (a answer) list(name string) (id string) { return fmt.Sprint(a[name].([]any)[0].(object)["id"]) }

// login takes a token of a project of the domain Default.
func (i *identity) login(user, password, project string) {
	i.t.Helper()
	home := object{"name": "Default"}
	i.token = ""
	i.do("POST", "/auth/tokens", object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{"name": user, "password": password, "domain": home}}},
		"scope":    object{"project": object{"name": project, "domain": home}},
	}})
}

func (i *identity) do(method, path string, in any) (out answer) {
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
	r.Close = true // the server does, without saying so
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		i.t.Fatalf("%s %s: %s %v %s", method, path, res.Status, err, said)
	}
	if token := res.Header.Get("X-Subject-Token"); token != "" {
		i.token = token
	}
	if len(said) > 0 {
		if err := json.Unmarshal(said, &out); err != nil {
			i.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return out
}

func TestKeystone(t *testing.T) {
	t.Parallel() // with Samba: each waits for its own server
	cert, key := certificate(t, "127.0.0.1")
	k := startKeystone(t, cert, key)
	credential, secret := people3(t, k.plain)
	const main = "idSvcAuthRealm = org.ctl.aaa.sec.realm.IdSvcAuthRealm\nidSvcAuthRealm.applicationCredentials = true\nidSvcAuthRealm.timeout = 60000\nidSvcAuthRealm.url = "
	files := keystores(t, secini(main+k.secure, "$idSvcAuthRealm"))
	c := harness.Start(t, bin, files)
	c.Ctl("feature:install ctl-realm-idsvc ctl-aaa-cert")
	local := loginCase{"local", "admin", "admin", 200, 200}
	logins(t, c, []loginCase{{"certificate not trusted", "olga@lab", "pw:x", 503, 503}, local})
	toldWhy(t, c, "x509")
	trust(t, c, cert)
	logins(t, c, []loginCase{
		{"no domain", "chief", "chiefpw", 200, 401},
		{"domain", "olga@lab", "pw:x", 200, 200},
		{"wrong password", "olga@lab", "pw", 401, 401},
		{"unknown", "nobody@lab", "pw:x", 401, 401},
		{"wrong domain", "olga@nowhere", "pw:x", 401, 401},
		{"domain missing", "olga", "pw:x", 401, 401},
		{"disabled", "off@lab", "pw:x", 401, 401},
		{"no role in the domain", "rootless@lab", "pw:x", 401, 401},
		{"application credential", credential, secret, 200, 200},
		{"application credential, wrong", credential, "x" + secret, 401, 401},
		local,
	})

	file := filepath.Join(c.Home, "etc", "sec.ini")
	again := func(url, more string) {
		t.Helper()
		text := strings.Replace(files["sec.ini"], "url = "+k.secure, "url = "+url+"\n"+more, 1)
		write(t, file, strings.Replace(text, "timeout = 60000", "timeout = 8000", 1))
		c.Restart()
	}
	elsewhere := strings.Replace(k.secure, "127.0.0.1", "localhost", 1)
	again(elsewhere, "")
	logins(t, c, []loginCase{{"certificate of another name", "olga@lab", "pw:x", 503, 503}, local})
	toldWhy(t, c, "wanted to match localhost") // and the certificate itself is trusted

	write(t, filepath.Join(c.Home, "etc", "ctl.yaml"), uncached(files)["ctl.yaml"])
	again(k.secure+"/v3", "idSvcAuthRealm.defaultDomain = lab")
	// A service account finds users without their password, so that they have tokens.
	form := func() (int, string) {
		res, err := http.PostForm(c.HTTP+"/oauth2/token", url.Values{"grant_type": {"password"}, "username": {"olga"}, "password": {"pw:x"}})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}
	if status, body := form(); status != 200 || strings.Contains(body, "refresh_token") { // a short token with the roles of this login
		t.Errorf("without a service account: %d %s", status, body)
	}
	again(k.secure+"/v3", "idSvcAuthRealm.defaultDomain = lab\nidSvcAuthRealm.serviceUser = admin\nidSvcAuthRealm.servicePassword = adminpw\nidSvcAuthRealm.serviceDomain = Default")
	status, body := form()
	var tokens struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &tokens); status != 200 || err != nil {
		t.Errorf("with a service account: %d %s", status, body)
	}
	if a := c.Do("GET", "/auth/v1/users", "Bearer "+tokens.Access, ""); a.Status != 200 { // the rights she has there
		t.Errorf("the token opens %d %s", a.Status, a.Body)
	}
	whileTheyLogIn(t, c, "olga", "pw:x", func() {
		k.kill()
		k.start(t)
		eventually(t, c, "olga", "pw:x", 200)
	})
	k.pause(t)
	logins(t, c, []loginCase{{"hanging", "olga@lab", "pw:x", 503, 503}, local})
	k.resume(t)
	k.kill()
	logins(t, c, []loginCase{{"down", "olga@lab", "pw:x", 503, 503}, local})
	k.start(t)
	eventually(t, c, "olga", "pw:x", 200) // in the default domain of the settings

	// Without verification, at a controller that does not trust the certificate, which
	// has another name too.
	other := harness.Start(t, bin, secini(main+elsewhere+"\nidSvcAuthRealm.sslVerification = false", "$idSvcAuthRealm"))
	other.Ctl("feature:install ctl-realm-idsvc")
	logins(t, other, []loginCase{{"not verified", "chief", "chiefpw", 200, 401}})
	if !strings.Contains(other.Log(), "is not verified (sslVerification = false)") {
		t.Error("the log does not warn of a certificate that is not verified")
	}
}

// people3 makes users and roles by the Identity API version 3, and an application
// credential.
func people3(t *testing.T, url string) (credential, secret string) {
	t.Helper()
	i := &identity{t: t, url: url}
	i.login("admin", "adminpw", "admin")
	admin := i.do("GET", "/roles?name=admin", nil).list("roles")
	chiefs := i.do("POST", "/roles", object{"role": object{"name": "lead"}}).id("role")
	domain := i.do("POST", "/domains", object{"domain": object{"name": "lab"}}).id("domain")
	for name, enabled := range map[string]bool{"olga": true, "off": false, "rootless": true} {
		id := i.do("POST", "/users", object{"user": object{"name": name, "password": "pw:x", "domain_id": domain, "enabled": enabled}}).id("user")
		if name != "rootless" {
			i.do("PUT", fmt.Sprintf("/domains/%s/users/%s/roles/%s", domain, id, admin), nil)
		}
	}
	chief := i.do("POST", "/users", object{"user": object{"name": "chief", "password": "chiefpw", "domain_id": "default"}}).id("user")
	i.do("PUT", fmt.Sprintf("/domains/default/users/%s/roles/%s", chief, chiefs), nil)
	project := i.do("POST", "/projects", object{"project": object{"name": "lab", "domain_id": "default"}}).id("project")
	i.do("PUT", fmt.Sprintf("/projects/%s/users/%s/roles/%s", project, chief, admin), nil)
	i.login("chief", "chiefpw", "lab")
	made := i.do("POST", "/users/"+chief+"/application_credentials", object{"application_credential": object{"name": "robot"}})
	return made.id("application_credential"), fmt.Sprint(made["application_credential"].(object)["secret"])
}
