//go:build peers

package certpeers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

func encryptionFile(home string) string {
	return filepath.Join(home, "etc/ctl/datastore/initial/config/aaa-encrypt-service-config.xml")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// putDocuments makes n configuration documents that are kept sealed: the word in their
// description is taken for a secret.
func (c *controller) putDocuments(n int) {
	c.t.Helper()
	policies := make([]map[string]any, n)
	for i := range policies {
		policies[i] = map[string]any{"aaa:resource": fmt.Sprint("/nothing/", i), "aaa:description": "password",
			"aaa:permissions": []any{map[string]any{"aaa:role": "admin", "aaa:actions": []string{"get"}}}}
	}
	body, _ := json.Marshal(map[string]any{"aaa:policies": map[string]any{"aaa:policies": policies}})
	if status := c.data("PUT", body); status/100 != 2 {
		c.t.Fatal(status)
	}
}

const policies = "/restconf/config/aaa:http-authorization/policies"

func (c *controller) data(method string, body []byte) int {
	c.t.Helper()
	r, err := http.NewRequest(method, c.HTTP+policies, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("admin", "admin-secret")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	if method == "GET" {
		var out bytes.Buffer
		if _, err := out.ReadFrom(res.Body); err != nil || strings.Count(out.String(), "/nothing/") < documents {
			c.t.Fatalf("documents are missing: %d of %d, %v", strings.Count(out.String(), "/nothing/"), documents, err)
		}
	}
	return res.StatusCode
}

const documents = 1500

// pending asks whether everything is sealed with the current key.
func (c *controller) pending() bool {
	return strings.Contains(c.shell("--format", "json", "aaa:encryption-info"), `"pending": true`)
}

func TestKilledWhileTheKeyIsReplaced(t *testing.T) {
	home := newHome(t, map[string]string{"use-mdsal": "true"})
	c := start(t, home)
	c.putDocuments(documents)
	_, certificate := c.call("getCtlCertificate", nil)
	interrupted := 0
	for range 4 {
		before := readFile(t, encryptionFile(home))
		rotation := exec.Command(filepath.Join(bin, "ctl"), "--home", home, "aaa:rotate-key")
		if err := rotation.Start(); err != nil {
			t.Fatal(err)
		}
		harness.Within(t, "a new key in the file", func() bool { return readFile(t, encryptionFile(home)) != before })
		c.Kill()
		if rotation.Wait() != nil {
			interrupted++
		}
		c = start(t, home)
		if status := c.data("GET", nil); status != 200 {
			t.Fatal(status)
		}
		if _, now := c.call("getCtlCertificate", nil); now != certificate {
			t.Fatal("the keystores are others")
		}
		harness.Within(t, "the rest sealed again", func() bool { return !c.pending() })
	}
	if interrupted == 0 {
		t.Error("no rotation was interrupted")
	}
	c.shell("aaa:rotate-key", "-forget")
	c.Stop()
	c = start(t, home)
	if status := c.data("GET", nil); status != 200 || c.pending() {
		t.Fatal(status)
	}
	if _, now := c.call("getCtlCertificate", nil); now != certificate {
		t.Fatal("the keystores are others")
	}
}
