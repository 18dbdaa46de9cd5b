package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTraceOfARequest: a traceparent sent over HTTP reaches the handler in a plugin,
// and through the Switchboard the one that the plugin calls; all log lines tell it.
func TestTraceOfARequest(t *testing.T) {
	c := start(t, homeDir(t))
	repo := filepath.Join(filepath.Dir(c.home), "faulty.yaml")
	if err := os.WriteFile(repo, []byte("name: test\nfeatures:\n- name: faulty\n  version: 1.0.0\n  description: misbehaves\n  depends: [ctl-restconf]\n"+
		"  plugins: [{name: faulty}]\n  facets: [{facet: rest, plugin: faulty}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ctl("feature:repo-add " + repo)
	c.ctl("feature:install faulty")
	c.ctl("log:set DEBUG org.ctl.aaa.sec.filters.AuthenticationListener")
	const trace = "0af7651916cd43dd8448eb211c80319c"
	req, err := http.NewRequest("POST", c.http+"/restconf/operations/faulty:relay", strings.NewReader(`{"input":{"provider":"faulty"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("admin", "admin")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	if a := c.send(req); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	wanted := []string{`"msg":"relaying"`, `"msg":"reading ports"`, "Successful authentication attempt by admin"}
	missing := func() (left []string) {
		log, _ := os.ReadFile(filepath.Join(c.home, "log", "ctl.log"))
	next:
		for _, w := range wanted {
			for line := range strings.Lines(string(log)) {
				if strings.Contains(line, w) && strings.Contains(line, `"trace_id":"`+trace+`"`) {
					continue next
				}
			}
			left = append(left, w)
		}
		return left
	}
	// Log lines of plugins come on another way than answers.
	for end := time.Now().Add(3 * time.Minute); len(missing()) > 0; {
		if time.Now().After(end) {
			t.Fatalf("not in the log under the trace: %v", missing())
		}
		c.ctl("plugin:list")
	}
}
