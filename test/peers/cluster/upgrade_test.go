//go:build peers

package clusterpeers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// nextRelease builds the programs as a later release would be: with another version, and a
// record of the plugin actor that has one field more.
func nextRelease(t *testing.T) string {
	t.Helper()
	dir := reserve.Dir(t, "ctl-next")
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	for file, changes := range map[string][]string{
		"internal/console/program.go": {`version = "devel"`, `version = "2.0.0"`},
		"test/peers/cluster/actor/main.go": {"// one more field", "Note string `json:\"note,omitempty\"`",
			"// and set it", "if in.Note != \"\" {\nout.Note = in.Note\n}"},
	} {
		text, err := os.ReadFile(filepath.Join(abs, file))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(changes); i += 2 {
			if !strings.Contains(string(text), changes[i]) {
				t.Fatalf("%s does not hold %q any more", file, changes[i])
			}
		}
		changed := filepath.Join(dir, filepath.Base(filepath.Dir(file))+".go")
		if err := os.WriteFile(changed, []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(abs, file)] = changed
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for target, packages := range map[string][]string{"/": {"./host/ctld", "./host/ctl"}, "/plugins/": {"./test/peers/cluster/actor"}} {
		if err := os.MkdirAll(dir+target, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(harness.Deadline(t), "go", append([]string{"build", "-buildvcs=false", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir + target}, packages...)...)
		cmd.Dir = abs
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// client is what a user with the addresses of all nodes has: it goes on to the next node
// when one cannot be reached.
type client struct {
	mu    sync.Mutex
	nodes []*harness.Controller
	http  http.Client
}

func (c *client) set(i int, n *harness.Controller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i] = n
}

// call makes an RPC at a node, or at the next. A call that changes something is not made
// again once it was sent.
func (c *client) call(ctx context.Context, at int, rpc, input string, safe bool) (status int, body string, err error) {
	return c.ask(ctx, at, http.MethodPost, "/restconf/operations/"+rpc, `{"input":`+input+`}`, safe)
}

// ask is call for any request.
func (c *client) ask(ctx context.Context, at int, method, path, content string, safe bool) (status int, body string, err error) {
	for n := range 3 * len(c.nodes) {
		c.mu.Lock()
		node := c.nodes[(at+n)%len(c.nodes)]
		address := node.HTTP
		c.mu.Unlock()
		r, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(content))
		if err != nil {
			return 0, "", err
		}
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("admin", "admin")
		a, err := c.http.Do(r)
		if err != nil {
			if safe || strings.Contains(err.Error(), "connection refused") {
				continue
			}
			return 0, "", err
		}
		text, err := io.ReadAll(io.LimitReader(a.Body, 1<<20))
		a.Body.Close()
		if err != nil && safe {
			continue
		}
		return a.StatusCode, string(text), err
	}
	return 0, "", fmt.Errorf("no node is reached")
}

// Three nodes are upgraded one after the other under load: no call that changes nothing
// fails, nothing that was acknowledged is lost, and what the new release writes into a
// record survives a write by the old one.
func TestRollingUpgrade(t *testing.T) {
	next := nextRelease(t)
	all, _, _ := nodes(t, 3)
	all[0].Ctl("feature:install actor")
	c := &client{nodes: append([]*harness.Controller{}, all...), http: http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	must := func(at int, rpc, input string) (out struct {
		Output struct {
			Count int
			Note  string
		}
	}) {
		t.Helper()
		status, body, err := c.call(t.Context(), at, rpc, input, false)
		if err != nil || status != 200 || json.Unmarshal([]byte(body), &out) != nil {
			t.Fatalf("%s %s at node %d: %d %s %v", rpc, input, at, status, body, err)
		}
		return out
	}
	harness.Within(t, "every node serves the plugin", func() bool {
		for i := range all {
			if status, _, _ := all[i].Call("actor:put", `{"input":{"name":"first"}}`); status != 200 {
				return false
			}
		}
		return true
	})
	must(0, "actor:put", `{"name":"load"}`)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var reads, failed, writes, refused atomic.Int64
	for w := range 3 {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				status, body, err := c.call(t.Context(), w+n, "actor:get", `{"name":"load"}`, true)
				reads.Add(1)
				if err != nil || status != 200 {
					if failed.Add(1) < 5 {
						t.Errorf("a safe call: %d %s %v", status, body, err)
					}
				}
			}
		})
	}
	work.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if status, _, err := c.call(t.Context(), n, "actor:put", `{"name":"load"}`, false); err == nil && status == 200 {
				writes.Add(1)
			} else {
				refused.Add(1)
			}
		}
	})
	for i := range all {
		if code := all[i].Stop(); code != 0 {
			t.Errorf("node %d ended with %d", i, code)
		}
		all[i] = harness.Run(t, harness.Options{Bin: next, Home: all[i].Home, Args: []string{"--cluster", "127.0.0.1:0"}})
		c.set(i, all[i])
		harness.Within(t, "the upgraded node serves the plugin", func() bool {
			status, _, _ := all[i].Call("actor:get", `{"input":{"name":"load"}}`)
			return status == 200
		})
		name := fmt.Sprintf(`{"name":"mixed-%d"`, i)
		must(i, "actor:put", name+`,"note":"by the new release"}`)
		old := (i + 1) % len(all) // the old release, until all are upgraded
		if got := must(old, "actor:put", name+"}"); got.Output.Count != 2 {
			t.Errorf("the other release counts %d", got.Output.Count)
		}
		if got := must(i, "actor:get", name+"}"); got.Output.Note != "by the new release" || got.Output.Count != 2 {
			t.Errorf("after a write by the other release the record is %+v", got.Output)
		}
	}
	cancel()
	work.Wait()
	if got := must(0, "actor:get", `{"name":"load"}`); int64(got.Output.Count) <= writes.Load() {
		t.Errorf("%d writes were acknowledged and one before, %d are there", writes.Load(), got.Output.Count)
	}
	s := statusOf(all[0])
	for _, m := range s.Members {
		if m.Version != "2.0.0" {
			t.Errorf("node %s has the version %s", m.ID, m.Version)
		}
	}
	if len(s.Members) != 3 {
		t.Errorf("%d members", len(s.Members))
	}
	t.Logf("%d safe calls, %d failed; %d writes acknowledged, %d not", reads.Load(), failed.Load(), writes.Load(), refused.Load())
}
