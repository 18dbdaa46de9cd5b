package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// heard is what the example plugin was notified of.
type heard struct {
	Action, Object, User, Realm, Address, Reason string
	RequestID                                    string `json:"request-id"`
	OK                                           bool
}

// A plugin that listens is notified of every login and every change, and of no secret.
func TestPluginsListenToLoginsAndChanges(t *testing.T) {
	c := start(t, harness.NewHome(t))
	repo := filepath.Join(c.Home, "listener.yaml")
	feature := "name: lab\nfeatures:\n- name: login-listener\n  version: 1.0.0\n  description: writes logins down\n  plugins: [{name: login-listener}]\n"
	if err := os.WriteFile(repo, []byte(feature), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:repo-add --unsigned " + repo)
	c.Ctl("feature:install --grant login-listener")

	file := ""
	read := func() string {
		t.Helper()
		if file == "" {
			found, err := filepath.Glob(filepath.Join(c.Home, "data", "plugins", "*", "heard.jsonl"))
			if err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			file = found[0]
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// wait repeats something until the plugin has heard of it.
	wait := func(kind string, do func(), is func(heard) bool) {
		t.Helper()
		for deadline := time.Now().Add(3 * time.Minute); ; {
			do()
			for _, line := range strings.Split(strings.TrimSpace(read()), "\n") {
				var e map[string]heard
				if json.Unmarshal([]byte(line), &e) == nil && is(e["accounting:"+kind]) {
					return
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("the plugin was not notified:\n%s", read())
			}
		}
	}
	wait("login", func() { c.Do("GET", "/restconf/modules", admin, "") }, func(e heard) bool {
		return e.OK && e.User == "admin" && e.Realm == "tokenAuthRealm" && strings.HasPrefix(e.Address, "127.0.0.1:") && e.RequestID != ""
	})
	wait("login", func() { c.Do("GET", "/restconf/modules", "user:wrong-guess-1", "") }, func(e heard) bool {
		return !e.OK && e.User == "user" && e.Reason != ""
	})
	// It listens now: one change is enough.
	if a := c.Do("POST", "/auth/v1/users", admin, `{"name":"ann","password":"anns-secret-1","domainid":"sdn"}`); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := c.Do("PUT", jsonPolicies, admin, policies("/x/**", "admin", "get")); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	wait("change", func() {}, func(e heard) bool {
		return e.Action == "create user" && e.Object == "ann@sdn" && e.User == "admin@sdn" && e.RequestID != ""
	})
	wait("change", func() {}, func(e heard) bool {
		return e.Action == "change policies" && e.Object == "aaa:http-authorization" && e.User == "admin@sdn"
	})
	for _, secret := range []string{"wrong-guess-1", "anns-secret-1"} {
		if strings.Contains(read(), secret) {
			t.Errorf("the plugin received %q:\n%s", secret, read())
		}
	}
}

// What is installed at the first start, keystores that a feature brings, and plugins that crash are in the audit; the first
// request for a certificate is made with the password that is in the settings.
func TestTheControllerRecordsWhatItDoesItself(t *testing.T) {
	c := start(t, harness.NewHome(t))
	settings := filepath.Join(c.Home, "etc/ctl/datastore/initial/config/aaa-cert-config.xml")
	password := func() string {
		t.Helper()
		text, err := os.ReadFile(settings)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), "<ctlKeystore>")
		_, after, _ = strings.Cut(after, "<store-password>")
		word, _, _ := strings.Cut(after, "</store-password>")
		return word
	}
	if word := password(); word != "" {
		t.Fatalf("before the feature is installed the password is %q", word)
	}
	c.Ctl("feature:install ctl-aaa-cert")
	if password() == "" {
		t.Fatal("ctl-aaa-cert is installed, and the keystore has no password")
	}
	if a := c.Do("POST", "/operations/aaa-cert-rpc:getCtlCertificateReq", admin, ""); a.Status != 200 || !strings.Contains(string(a.Body), "ctl-cert-req") {
		t.Errorf("the first request for a certificate: %d %s", a.Status, a.Body)
	}
	c.Ctl("feature:install ctl-switch-all")
	c.Ctl("plugin:kill switch")
	harness.Within(t, "the crash is in the audit", func() bool {
		return strings.Contains(c.Ctl("audit:show --what crash"), "plugin:switch")
	})
	for _, what := range []string{"create keystores", "install features"} {
		if shown := c.Ctl("audit:show --what '" + what + "'"); strings.Count(shown, what) != 1 {
			t.Errorf("%s:\n%s", what, shown)
		}
	}
	c.Ctl("audit:verify")
}
