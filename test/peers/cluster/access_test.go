//go:build peers

package clusterpeers

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, root, &bin, "./test/peers/cluster/actor", "./test/peers/cluster/lone"))
}

func do(t *testing.T, c *harness.Controller, method, path, auth, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, c.HTTP+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(body, "grant_type") || strings.HasPrefix(body, "token=") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if user, password, ok := strings.Cut(auth, ":"); ok {
		r.SetBasicAuth(user, password)
	} else if auth != "" {
		r.Header.Set("Authorization", "Bearer "+auth)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// pair starts two controllers on one etcd.
func pair(t *testing.T) (one, two *harness.Controller) {
	t.Helper()
	endpoint := harness.Etcd(t)
	settings := "datastore:\n  engine: etcd\n  etcd: {endpoints: [\"" + endpoint + "\"], prefix: ctl-test/, timeout: 30s}\n" +
		"aaa:\n  throttle: {after: 100000}\n  argon2: {memory: 8MiB, time: 1}\n"
	ini, err := os.ReadFile(filepath.Join(root, "etc", "sec.ini"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"ctl.yaml": settings, "sec.ini": string(ini)}
	return harness.RunNode(t, harness.Options{Bin: bin, Files: files}), harness.RunNode(t, harness.Options{Bin: bin, Files: files})
}

// Nodes of a cluster follow each other.
func TestNodesFollowEachOther(t *testing.T) {
	one, two := pair(t)
	t.Run("features", func(t *testing.T) { followFeatures(t, one, two) })
	t.Run("access", func(t *testing.T) { followAccess(t, one, two) })
}

// What decides access is changed at one node and counts at the other soon after,
// though that has the old state in its caches.
func followAccess(t *testing.T, one, two *harness.Controller) {
	one.Ctl("feature:install ctl-aaa-authz")
	const admin, bob = "admin:admin", "bob:bobs own"
	want := func(c *harness.Controller, status int, method, path, auth, body string) string {
		t.Helper()
		got, text := do(t, c, method, path, auth, body)
		if got != status {
			t.Fatalf("%s %s as %q: %d %s, want %d", method, path, auth, got, text, status)
		}
		return text
	}
	// soon waits until a node answers as the change demands.
	soon := func(what string, c *harness.Controller, status int, path, auth string) {
		t.Helper()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for deadline := time.Now().Add(2 * time.Minute); ; <-again.C {
			got, text := do(t, c, "GET", path, auth, "")
			if got == status {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: the other node still answers %d %s, want %d", what, got, text, status)
			}
		}
	}
	const modules = "/restconf/modules"
	want(one, 201, "POST", "/auth/v1/users", admin, `{"name":"bob","password":"bobs own","domainid":"sdn"}`)
	want(one, 201, "POST", "/auth/v1/domains/sdn/users/bob@sdn/roles", admin, `{"roleid":"user@sdn"}`)
	soon("a new user", two, 200, modules, bob)

	var issued struct {
		Token string `json:"access_token"`
	}
	form := url.Values{"grant_type": {"password"}, "username": {"bob"}, "password": {"bobs own"}, "scope": {"sdn"}}
	if err := json.Unmarshal([]byte(want(one, 200, "POST", "/oauth2/token", "", form.Encode())), &issued); err != nil {
		t.Fatal(err)
	}
	soon("a token", two, 200, modules, issued.Token)
	want(one, 200, "POST", "/oauth2/revoke", "", "token="+issued.Token)
	soon("a revoked token", two, 401, modules, issued.Token)

	policies := func(resource string) string {
		return `{"aaa:policies":{"aaa:policies":[{"aaa:resource":"` + resource + `","aaa:permissions":[{"aaa:role":"admin","aaa:actions":["get"]}]}]}}`
	}
	want(one, 201, "PUT", "/restconf/config/aaa:http-authorization/policies", admin, policies(modules+"/**"))
	want(one, 401, "GET", modules, bob, "") // at once where it was changed
	soon("a policy", two, 401, modules, bob)
	want(two, 200, "DELETE", "/restconf/config/aaa:http-authorization/policies", admin, "")
	soon("the end of a policy", one, 200, modules, bob)
	want(one, 201, "POST", "/restconf/config/authorization-schema:simple-authorization/policies/RestConfService/", admin,
		`{"policies":{"resource":"*","service":"RestConfService","role":"admin"}}`)
	soon("a policy of the broker", two, 401, "/restconf/config/network-topology:network-topology", bob)

	want(one, 200, "PUT", "/auth/v1/users/bob@sdn", admin, `{"enabled":false}`)
	soon("a disabled user", two, 401, modules, bob)
	want(two, 200, "PUT", "/auth/v1/users/bob@sdn", admin, `{"enabled":true,"password":"bobs next"}`)
	soon("a new password", one, 200, modules, "bob:bobs next")
	want(one, 401, "GET", modules, bob, "")
	want(two, 204, "DELETE", "/auth/v1/users/bob@sdn", admin, "")
	soon("a deleted user", one, 401, modules, "bob:bobs next")
}
