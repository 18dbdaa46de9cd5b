//go:build peers

package truthpeers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// rogue reports whether a hostile plugin acts beside the histories: CTL_TRUTH_ROGUE=1. An hour of it:
// CTL_TRUTH_ROGUE=1 CTL_TRUTH_SECONDS=720 go test -tags peers -timeout 2h -run TestOneNodeIsOneTruth ./test/peers/truth
func rogue() bool { return os.Getenv("CTL_TRUTH_ROGUE") != "" }

// beside has the faulty plugin hang, flood, crash and fill the store until the test ends. At the end the audit must be
// whole, and the controller must not have kept what the rogue took: descriptors and goroutines.
func beside(t *testing.T, c *harness.Controller) {
	if !rogue() {
		return
	}
	t.Helper()
	installRogue(t, c)
	stop := actRogue(t, c)
	t.Cleanup(func() {
		stop()
		c.Ctl("feature:uninstall faulty")
		t.Log(c.Ctl("audit:verify"))
		harness.Within(t, "what the rogue took is given back", func() bool {
			files, goroutines := gauge(c, "process_open_fds"), gauge(c, "go_goroutines")
			if files == 0 || files > 400 || goroutines > 1000 {
				t.Logf("%v descriptors, %v goroutines", files, goroutines)
				return false
			}
			t.Logf("at the end: %v descriptors, %v goroutines, %.0f MiB resident", files, goroutines, gauge(c, "process_resident_memory_bytes")/(1<<20))
			return true
		})
	})
}

// installRogue installs the faulty plugin, with all that it requests.
func installRogue(t *testing.T, c *harness.Controller) {
	t.Helper()
	repo := filepath.Join(t.TempDir(), "faulty.yaml")
	if err := os.WriteFile(repo, []byte("name: rogue\nfeatures:\n- name: faulty\n  version: 1.0.0\n  depends: [ctl-restconf]\n"+
		"  plugins: [{name: faulty}]\n  facets: [{facet: rest, plugin: faulty}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:repo-add --unsigned " + repo)
	c.Ctl("feature:install --grant faulty")
}

// actRogue has the faulty plugin hang, flood, crash and publish until the function that it returns is called.
func actRogue(t *testing.T, c *harness.Controller) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}, Timeout: 30 * time.Second}
	address := c.HTTP // it is the same after each start
	var mu sync.Mutex
	answers := map[string]int{}
	post := func(rpc, input string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/restconf/operations/faulty:"+rpc, strings.NewReader(`{"input":`+input+`}`))
		if err != nil {
			return
		}
		req.SetBasicAuth("admin", "admin")
		req.Header.Set("Content-Type", "application/json")
		outcome := "none"
		if r, err := client.Do(req); err == nil {
			_ = r.Body.Close()
			outcome = fmt.Sprint(r.StatusCode)
		}
		mu.Lock()
		defer mu.Unlock()
		answers[rpc+" "+outcome]++
	}
	loop := func(rpc, input string, every time.Duration) {
		wg.Go(func() {
			for ctx.Err() == nil {
				post(rpc, input)
				select {
				case <-time.After(every):
				case <-ctx.Done():
				}
			}
		})
	}
	for range 32 {
		loop("hang", "{}", 100*time.Millisecond)
	}
	loop("flood", `{"lines":20000}`, time.Second)
	loop("huge-line", `{"bytes":3000000}`, time.Second)
	loop("big", `{"bytes":1000000}`, time.Second)
	loop("health", `{"state":"failed","text":"`+strings.Repeat("x", 5000)+`"}`, 500*time.Millisecond)
	loop("health", `{"state":"healthy"}`, 700*time.Millisecond)
	loop("panic-goroutine", "{}", 15*time.Second)
	loop("crash", "{}", 10*time.Second)
	loop("host", `{"call":"publish","text":"faulty-events"}`, time.Millisecond)
	return func() {
		cancel()
		wg.Wait()
		client.CloseIdleConnections()
		t.Logf("the rogue's calls were answered: %v", answers)
	}
}

// gauge reads a metric without labels.
func gauge(c *harness.Controller, name string) (v float64) {
	r, err := http.Get("http://" + c.Address("admin") + "/metrics")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			_, _ = fmt.Sscan(rest, &v)
		}
	}
	return v
}
