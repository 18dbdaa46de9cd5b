//go:build peers

package clusterpeers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// releaseBefore is the commit of the release before this one, whose homes, snapshots and plugins this one takes over.
const releaseBefore = "f16bcc54"

// buildReleaseBefore builds the programs of that release from the history of this repository.
func buildReleaseBefore(t *testing.T) (dir string) {
	t.Helper()
	git := func(args ...string) *exec.Cmd {
		return exec.CommandContext(harness.Deadline(t), "git", append([]string{"-C", root}, args...)...)
	}
	if out, err := git("rev-parse", "--verify", "--quiet", releaseBefore+"^{commit}").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer, the release before (commit %s), is not in this repository: git fetch --unshallow fetches it: %v %s", releaseBefore, err, out)
	}
	source, dir := reserve.Dir(t, "ctl-n1-source"), reserve.Dir(t, "ctl-n1")
	archive := filepath.Join(source, "archive.tar")
	if out, err := git("archive", "--output", archive, releaseBefore).CombinedOutput(); err != nil {
		t.Fatalf("git archive: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(harness.Deadline(t), "tar", "-C", source, "-xf", archive).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	if out, err := harness.Build(source, dir, "./test/peers/cluster/actor"); err != nil {
		t.Fatalf("the release before: %v\n%s", err, out)
	}
	return dir
}

// load are clients of a cluster that is upgraded.
type load struct {
	t                              *testing.T
	c                              *client
	reads, failed, writes, refused atomic.Int64
}

// safe counts a call that changes nothing, and may not fail.
func (l *load) safe(what string, status int, body string, err error) {
	l.reads.Add(1)
	if (err != nil || status != http.StatusOK) && l.failed.Add(1) < 10 {
		l.t.Errorf("%s: %d %.300s %v", what, status, body, err)
	}
}

// run makes calls of each kind until ctx ends.
func (l *load) run(ctx context.Context) *sync.WaitGroup {
	var work sync.WaitGroup
	loop := func(step func(n int)) {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				step(n)
			}
		})
	}
	during := context.WithoutCancel(ctx) // a call under way at the end is no failure
	loop(func(n int) {
		status, body, err := l.c.call(during, n, "actor:get", `{"name":"load"}`, true)
		l.safe("an RPC that changes nothing", status, body, err)
	})
	loop(func(n int) {
		status, body, err := l.c.ask(during, n, http.MethodGet, topologies, "", true)
		l.safe("a read of a tree", status, body, err)
	})
	loop(func(n int) {
		status, body, err := l.c.call(during, n, "bier-channel-api:query-channel", `{"topology-id":"kept","channel-name":["c1"]}`, true)
		if err == nil && status == http.StatusOK && !strings.Contains(body, `"c1"`) {
			err = fmt.Errorf("the channel is not in the answer")
		}
		l.safe("a query of a channel", status, body, err)
	})
	loop(func(n int) {
		status, body, err := l.c.ask(during, n, http.MethodGet, "/auth/v1/users", "", true)
		l.safe("a list of users", status, body, err)
	})
	loop(func(n int) {
		if status, _, err := l.c.call(during, n, "actor:put", `{"name":"load"}`, false); err == nil && status == http.StatusOK {
			l.writes.Add(1)
		} else {
			l.refused.Add(1)
		}
	})
	return &work
}

const topologies = "/rests/data/bier-topology:bier-network-topology"

func TestTheReleaseBefore(t *testing.T) {
	before := buildReleaseBefore(t)
	t.Run("a cluster is upgraded under load", func(t *testing.T) { upgradeCluster(t, before) })
	t.Run("its plugins run at this controller", func(t *testing.T) { runPluginsOf(t, before) })
	t.Run("its snapshot is restored into this controller", func(t *testing.T) { restoreSnapshotOf(t, before) })
}

// upgradeCluster upgrades a cluster of the release before to this one, node by node, under load: no call that changes
// nothing fails, nothing that was acknowledged is lost, and nodes of both releases see what the other writes.
func upgradeCluster(t *testing.T, before string) {
	all, _, _ := nodes(t, 3, before, before, before)
	all[0].Ctl("feature:install actor ctl-bier-all")
	c := &client{nodes: slices.Clone(all), http: http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	must := func(at int, rpc, input, says string) string {
		t.Helper()
		status, body, err := c.call(t.Context(), at, rpc, input, false)
		if err != nil || status != http.StatusOK || !strings.Contains(body, says) {
			t.Fatalf("%s %s at node %d: %d %s %v", rpc, input, at, status, body, err)
		}
		return body
	}
	serves := func(n *harness.Controller) bool {
		for _, call := range [][2]string{{"actor:put", `{"input":{"name":"first"}}`}, {"bier-channel-api:get-channel", `{"input":{"topology-id":"kept"}}`}} {
			if status, _, _ := n.Call(call[0], call[1]); status != http.StatusOK {
				return false
			}
		}
		return true
	}
	for _, n := range all {
		harness.Within(t, "every node serves the plugins", func() bool { return serves(n) })
	}
	status, body, err := c.ask(t.Context(), 0, http.MethodPut, topologies+"/bier-topology=kept", `{"bier-topology:bier-topology":[{"topology-id":"kept"}]}`, false)
	if err != nil || status != http.StatusCreated {
		t.Fatal(status, body, err)
	}
	must(0, "bier-topology-api:configure-domain", `{"topology-id":"kept","domain":[1]}`, "SUCCESS")
	must(1, "bier-channel-api:add-channel", channel("c1", 1), "SUCCESS")
	must(2, "actor:put", `{"name":"load"}`, "")
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{t: t, c: c}
	work := l.run(ctx)
	for i := range all {
		if code := all[i].Stop(); code != 0 {
			t.Errorf("node %d ended with %d", i, code)
		}
		all[i] = harness.Run(t, harness.Options{Bin: bin, Home: all[i].Home, Args: []string{"--cluster", "127.0.0.1:0"}})
		c.set(i, all[i])
		harness.Within(t, "the upgraded node serves the plugins", func() bool { return serves(all[i]) })
		// What one release writes, the other reads and writes on.
		old := (i + 1) % len(all)
		record, name := fmt.Sprintf(`{"name":"mixed-%d"}`, i), fmt.Sprint("c-", i)
		must(i, "actor:put", record, "")
		must(old, "actor:put", record, `"count":2`)
		must(i, "actor:get", record, `"count":2`)
		must(i, "bier-channel-api:add-channel", channel(name, i+2), "SUCCESS")
		must(old, "bier-channel-api:query-channel", `{"topology-id":"kept","channel-name":["`+name+`"]}`, name)
		must(old, "bier-channel-api:remove-channel", `{"topology-id":"kept","channel-name":"`+name+`"}`, "SUCCESS")
		if body := must(i, "bier-channel-api:get-channel", `{"topology-id":"kept"}`, "c1"); strings.Contains(body, name) {
			t.Errorf("the channel that the other release removed is there: %s", body)
		}
	}
	cancel()
	work.Wait()
	var kept struct{ Output struct{ Count int64 } }
	if err := json.Unmarshal([]byte(must(0, "actor:get", `{"name":"load"}`, "")), &kept); err != nil || kept.Output.Count <= l.writes.Load() {
		t.Errorf("%d writes were acknowledged and one before, %d are there (%v)", l.writes.Load(), kept.Output.Count, err)
	}
	if n := len(statusOf(all[0]).Members); n != 3 {
		t.Errorf("%d members", n)
	}
	t.Logf("%d safe calls, %d failed; %d writes acknowledged, %d not", l.reads.Load(), l.failed.Load(), l.writes.Load(), l.refused.Load())
}

// runPluginsOf runs the plugins of the release before at this controller: operations, trees, and a command that is sent
// more input than a pipe holds.
func runPluginsOf(t *testing.T, before string) {
	dir := reserve.Dir(t, "ctl-mixed")
	for _, copied := range [][2]string{{before + "/.", dir}, {filepath.Join(bin, "ctld"), dir}, {filepath.Join(bin, "ctl"), dir}, {filepath.Join(bin, "features.yaml"), dir}} {
		if out, err := exec.CommandContext(harness.Deadline(t), "cp", "-a", copied[0], copied[1]).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v\n%s", err, out)
		}
	}
	c := harness.Run(t, harness.Options{Bin: dir})
	c.Ctl("feature:install ctl-bier-all ctl-switch-all ctl-openflow")
	harness.Within(t, "every plugin is ready", func() bool {
		var list []struct{ Name, State, Reason string }
		if err := json.Unmarshal([]byte(c.Ctl("plugin:list --format json")), &list); err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.State == "failed" || p.State == "backoff" {
				t.Fatalf("plugin %s is %s: %s", p.Name, p.State, p.Reason)
			}
		}
		return len(list) > 4 && !slices.ContainsFunc(list, func(p struct{ Name, State, Reason string }) bool { return p.State != "ready" })
	})
	const nodesOfFile = 5000
	var file strings.Builder
	file.WriteString("topology-id: piped\nnode:\n")
	for i := range nodesOfFile {
		fmt.Fprintf(&file, "- {node-id: a-node-with-a-long-name-%d}\n", i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(dir, "ctl"), "--home", c.Home, "bier:topo-import -")
	command.Stdin = strings.NewReader(file.String())
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), fmt.Sprint(nodesOfFile)) {
		t.Errorf("%d bytes of input: %v\n%s", file.Len(), err, out)
	}
	for _, call := range [][2]string{
		{"bier-topology-api:configure-domain", `{"input":{"topology-id":"piped","domain":[1]}}`},
		{"bier-channel-api:add-channel", `{"input":` + strings.ReplaceAll(channel("c1", 1), `"kept"`, `"piped"`) + `}`},
		{"bier-channel-api:query-channel", `{"input":{"topology-id":"piped","channel-name":["c1"]}}`},
		{"topology:get-node-list", `{}`},
	} {
		if status, body, err := c.Call(call[0], call[1]); err != nil || status != http.StatusOK || strings.Contains(body, "FAILURE") {
			t.Errorf("%s: %d %s %v", call[0], status, body, err)
		}
	}
	if a := c.Do(http.MethodGet, topologies+"/bier-topology=piped/bier-domain=1", "admin:admin", ""); a.Status != http.StatusOK {
		t.Errorf("the tree: %d %s", a.Status, a.Body)
	}
}

// restoreSnapshotOf saves a snapshot with the release before, of a controller that runs, and restores it with this one.
func restoreSnapshotOf(t *testing.T, before string) {
	c := harness.Run(t, harness.Options{Bin: before})
	c.Ctl("feature:install ctl-bier-all")
	if a := c.Do(http.MethodPut, topologies+"/bier-topology=kept", "admin:admin", `{"bier-topology:bier-topology":[{"topology-id":"kept"}]}`); a.Status != http.StatusCreated {
		t.Fatal(a.Status, a.Body)
	}
	if status, body, err := c.Call("bier-topology-api:configure-domain", `{"input":{"topology-id":"kept","domain":[1]}}`); err != nil || !strings.Contains(body, "SUCCESS") {
		t.Fatal(status, body, err)
	}
	if status, body, err := c.Call("bier-channel-api:add-channel", `{"input":`+channel("c1", 1)+`}`); err != nil || !strings.Contains(body, "SUCCESS") {
		t.Fatal(status, body, err)
	}
	file := filepath.Join(reserve.Dir(t, "ctl-snapshot"), "before.tar")
	home := harness.NewHome(t)
	for _, line := range [][]string{
		{filepath.Join(before, "ctl"), "--home", c.Home, "snapshot", "save", file},
		{filepath.Join(bin, "ctl"), "--home", home, "snapshot", "restore", file},
	} {
		if out, err := exec.CommandContext(harness.Deadline(t), line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, out)
		}
	}
	restored := harness.Run(t, harness.Options{Bin: bin, Home: home})
	harness.Within(t, "the channel of the snapshot is there", func() bool {
		status, body, _ := restored.Call("bier-channel-api:query-channel", `{"input":{"topology-id":"kept","channel-name":["c1"]}}`)
		return status == http.StatusOK && strings.Contains(body, `"c1"`)
	})
	if a := restored.Do(http.MethodGet, "/auth/v1/users", "admin:admin", ""); a.Status != http.StatusOK || !strings.Contains(a.Body, "admin") {
		t.Errorf("the users: %d %s", a.Status, a.Body)
	}
}

// channel is the input that adds one.
func channel(name string, n int) string {
	return fmt.Sprintf(`{"topology-id":"kept","name":%q,"src-ip":"10.0.0.%d","dst-group":"232.1.1.1","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}`, name, n)
}
