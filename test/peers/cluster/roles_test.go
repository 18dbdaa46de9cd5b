//go:build peers

package clusterpeers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// catalogue are the features of the test plugins.
const catalogue = `name: cluster-tests
features:
- name: actor
  version: 1.0.0
  description: acts in a role
  plugins: [{name: actor, grants: [service datastore, service roles, "write setting:acts"]}]
  facets:
  - {facet: rest, plugin: actor, modules: [actor]}
- name: lone
  version: 1.0.0
  description: runs on one node
  plugins: [{name: lone}]
  facets:
  - {facet: rest, plugin: lone, modules: [lone]}
  - {facet: cli, plugin: lone, commands: ["lone:*"]}
`

// nodes starts controllers on a cluster of three etcds; the first by its settings, the
// others by joining. dir holds what the test plugins write.
func nodes(t *testing.T, n int, bins ...string) (all []*harness.Controller, etcds []*harness.EtcdMember, dir string) {
	t.Helper()
	etcds, dir = harness.EtcdCluster(t, 3), reserve.Dir(t, "ctl-acts")
	var endpoints []string
	for _, e := range etcds {
		endpoints = append(endpoints, strconv.Quote(e.Client))
	}
	settings := "datastore:\n  engine: etcd\n  etcd: {endpoints: [" + strings.Join(endpoints, ", ") + "], prefix: ctl-test/}\n" +
		"cluster: {listen: 127.0.0.1:0}\naaa:\n  throttle: {after: 100000}\n  argon2: {memory: 8MiB, time: 1}\n"
	plugins := map[string]string{"actor.yaml": "acts: " + dir + "/acts\n", "lone.yaml": "calls: " + dir + "/calls\n"}
	for i := range n {
		home := harness.NewHome(t)
		files := map[string]string{"features.d/tests.yaml": catalogue}
		var args []string
		if i == 0 {
			files["etc/ctl.yaml"] = settings
		} else {
			args = []string{"--join", filepath.Join(dir, "token"), "--cluster", "127.0.0.1:0"}
		}
		for name, text := range plugins {
			files["etc/"+name] = text
		}
		for name, text := range files {
			path := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		from := bin
		if i < len(bins) {
			from = bins[i]
		}
		all = append(all, harness.Run(t, harness.Options{Bin: from, Home: home, Args: args}))
		if i == 0 {
			all[0].Ctl("cluster:token " + filepath.Join(dir, "token"))
		}
	}
	return all, etcds, dir
}

// status is what cluster:status --format json says.
type status struct {
	Members []struct {
		ID      string `json:"id"`
		Home    string `json:"home"`
		Version string `json:"version"`
		Running struct {
			Plugins []struct{ Name, State string }
		} `json:"running"`
	} `json:"members"`
	Roles []struct {
		Name, Node string
		Epoch      uint64
	} `json:"roles"`
}

func statusOf(c *harness.Controller) (s status) {
	out, err := c.TryCtl("cluster:status --format json")
	if err == nil {
		_ = json.Unmarshal([]byte(out), &s)
	}
	return s
}

// holder returns the controller that holds a role, as c sees it; -1 = none.
func holder(c *harness.Controller, all []*harness.Controller, role string) (index int, epoch uint64) {
	s := statusOf(c)
	for _, r := range s.Roles {
		if r.Name != role {
			continue
		}
		for _, m := range s.Members {
			if m.ID == r.Node {
				return slices.IndexFunc(all, func(o *harness.Controller) bool { return o.Home == m.Home }), r.Epoch
			}
		}
	}
	return -1, 0
}

func await(t *testing.T, c *harness.Controller, all []*harness.Controller, role string, not int) int {
	t.Helper()
	found := -1
	harness.Within(t, "a node holds the role "+role, func() bool {
		found, _ = holder(c, all, role)
		return found >= 0 && found != not
	})
	return found
}

// act is one line of what the actor notes.
type act struct {
	Epoch uint64
	PID   int
	At    int64
	Store uint64
}

func acts(t *testing.T, file string) (out []act) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := bufio.NewScanner(f); r.Scan(); {
		var a act
		if json.Unmarshal(r.Bytes(), &a) == nil {
			out = append(out, a)
		}
	}
	return out
}

// oneAtATime checks that the acts of epochs do not overlap, and that no commit of an epoch
// was made after a later epoch began. It returns how many epochs acted.
func oneAtATime(t *testing.T, list []act) int {
	t.Helper()
	slices.SortStableFunc(list, func(a, b act) int { return int(a.At - b.At) })
	var epoch, newest uint64
	n, pid := 0, 0
	for _, a := range list {
		if a.Epoch < epoch {
			t.Fatalf("an act of epoch %d at %d, after epoch %d began", a.Epoch, a.At, epoch)
		}
		if a.Epoch > epoch {
			n, pid = n+1, a.PID
		}
		if a.PID != pid {
			t.Fatalf("two processes act in epoch %d", a.Epoch)
		}
		if a.Store != 0 && (a.Store < newest || a.Store <= a.Epoch) {
			t.Fatalf("a commit of epoch %d at revision %d, after revision %d", a.Epoch, a.Store, newest)
		}
		epoch, newest = a.Epoch, max(newest, a.Store)
	}
	return n
}

// since returns how long no process acted between the last act of an epoch and the first of
// another.
func handOver(list []act, before uint64) (time.Duration, bool) {
	slices.SortStableFunc(list, func(a, b act) int { return int(a.At - b.At) })
	var last int64
	for _, a := range list {
		if a.Epoch == before {
			last = a.At
		} else if a.Epoch > before && last != 0 {
			return time.Duration(a.At - last), true
		}
	}
	return 0, false
}

// A role is held by one node; another takes over within seconds when that dies or stands
// still, and at once when it stops in order. No two act at a time.
func TestRolesAreHandedOver(t *testing.T) {
	all, etcds, dir := nodes(t, 3)
	all[0].Ctl("feature:install actor")
	file := filepath.Join(dir, "acts")
	// measure waits until another node than the one that did acts, and notes the gap; how long it may be is tested in
	// host/internal/lease, where no machine is busy.
	measure := func(what string, do, after func(i int)) {
		t.Helper()
		i := await(t, all[0], all, "act", -1)
		_, before := holder(all[0], all, "act")
		harness.Within(t, "the holder acts", func() bool {
			return slices.ContainsFunc(acts(t, file), func(a act) bool { return a.Epoch == before })
		})
		do(i)
		var took time.Duration
		harness.Within(t, what+": another node acts", func() (ok bool) {
			took, ok = handOver(acts(t, file), before)
			return ok
		})
		t.Logf("%s: no process acted for %s", what, took.Round(time.Millisecond))
		after(i)
	}
	launch := func(i int) { all[i].Launch() }
	for range 3 {
		measure("a node is killed", func(i int) { all[i].Kill() }, launch)
	}
	measure("a node is killed and started again", func(i int) { all[i].Kill(); all[i].Launch() }, func(int) {})
	measure("a node stops in order", func(i int) { all[i].Stop() }, launch)
	measure("a node stands still", func(i int) {
		pid := all[i].PID()
		harness.Freeze(t, pid)
		time.AfterFunc(15*time.Second, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		ask := (i + 1) % len(all)
		await(t, all[ask], all, "act", i)
	}, func(i int) {
		harness.Within(t, "the frozen node goes on", func() bool { _, err := all[i].TryCtl("system:version"); return err == nil })
		harness.Within(t, "it is a member again", func() bool { return len(statusOf(all[i]).Members) == 3 })
	})
	t.Run("etcd's leader stands still", func(t *testing.T) {
		leader := etcds[slices.IndexFunc(etcds, (*harness.EtcdMember).Leader)]
		leader.Signal(syscall.SIGSTOP)
		done := time.AfterFunc(15*time.Second, func() { leader.Signal(syscall.SIGCONT) })
		defer done.Stop()
		defer leader.Signal(syscall.SIGCONT)
		began := len(acts(t, file))
		harness.Within(t, "somebody acts while it stands still", func() bool { return len(acts(t, file)) > began+1000 })
		longest := int64(0)
		for list, n := acts(t, file), began+1; n < len(list); n++ {
			longest = max(longest, list[n].At-list[n-1].At)
		}
		t.Logf("no process acted for %s", time.Duration(longest).Round(time.Millisecond))
		harness.Within(t, "all three nodes are members", func() bool { return len(statusOf(all[0]).Members) == 3 })
	})
	t.Run("a follower of etcd stands still", func(t *testing.T) {
		_, before := holder(all[0], all, "act")
		for _, e := range etcds {
			if e.Leader() {
				continue
			}
			began := len(acts(t, file))
			e.Signal(syscall.SIGSTOP)
			harness.Within(t, "the holder acts on", func() bool { return len(acts(t, file)) > began+1000 })
			e.Signal(syscall.SIGCONT)
		}
		_, after := holder(all[0], all, "act")
		t.Logf("handed over: %v", after != before)
	})
	t.Logf("%d epochs acted", oneAtATime(t, acts(t, file)))
}

// Two hundred hand-overs, some of them rough, and never two that act.
func TestTwoHundredHandOvers(t *testing.T) {
	all, _, dir := nodes(t, 3)
	all[0].Ctl("feature:install actor")
	file := filepath.Join(dir, "acts")
	last := uint64(0)
	for n := range 200 {
		i := await(t, all[0], all, "act", -1)
		var epoch uint64
		harness.Within(t, "somebody acts in a new epoch", func() bool {
			list := acts(t, file)
			if len(list) > 0 {
				epoch = list[len(list)-1].Epoch
			}
			return epoch > last
		})
		last = epoch
		switch {
		case n%40 == 39:
			all[i].Ctl("plugin:reload actor")
		default:
			all[(i+1)%3].Ctl("cluster:step-down act --for 1s")
		}
	}
	list := acts(t, file)
	if got := oneAtATime(t, list); got < 200 {
		t.Errorf("%d epochs, at least 200 were to be", got)
	}
	t.Logf("%d acts in %d epochs", len(list), oneAtATime(t, list))
}

// A plugin for one node runs on one; the others carry calls to it.
func TestAPluginForOneNode(t *testing.T) {
	all, _, dir := nodes(t, 3)
	all[0].Ctl("feature:install lone")
	type answer struct {
		Output struct {
			PID       int
			Count     int
			User      string
			RequestID string `json:"request-id"`
		}
	}
	where := func(c *harness.Controller) (a answer) {
		t.Helper()
		r := c.Do("POST", "/restconf/operations/lone:where", "admin:admin", "")
		if r.Status != 200 || json.Unmarshal([]byte(r.Body), &a) != nil {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		if id := r.Header.Get("X-Request-Id"); a.Output.User != "admin" || a.Output.RequestID != id {
			t.Errorf("the plugin was called by %q with the request %q, it was %q", a.Output.User, a.Output.RequestID, id)
		}
		return a
	}
	harness.Within(t, "every node has the feature", func() bool {
		return !slices.ContainsFunc(all, func(c *harness.Controller) bool {
			return c.Do("POST", "/restconf/operations/lone:where", "admin:admin", "").Status != 200
		})
	})
	pid := where(all[0]).Output.PID
	for n, c := range all {
		if got := where(c).Output.PID; got != pid {
			t.Errorf("node %d has a process of its own: %d, not %d", n, got, pid)
		}
		if r := c.Do("POST", "/lone/x", "admin:admin", "12345"); r.Body != fmt.Sprintf("POST /lone/x %d 5", pid) {
			t.Errorf("the route at node %d: %d %s", n, r.Status, r.Body)
		}
		if got := c.Ctl("lone:say hello"); !strings.HasPrefix(got, fmt.Sprintf("hello %d", pid)) {
			t.Errorf("the command at node %d: %s", n, got)
		}
		if r := c.Do("POST", "/restconf/operations/lone:add", "admin:admin", `{"input":{"id":"first-`+strconv.Itoa(n)+`"}}`); r.Status != 200 {
			t.Errorf("an RPC at node %d: %d %s", n, r.Status, r.Body)
		}
	}
	i := await(t, all[0], all, "plugin/lone", -1)
	other, third := all[(i+1)%3], all[(i+2)%3]

	// The node that runs it dies under a call that changes something: that is not made again,
	// and calls that change nothing do not fail.
	unsafe := make(chan harness.Answer, 1)
	go func() {
		unsafe <- other.Do("POST", "/restconf/operations/lone:add", "admin:admin", `{"input":{"id":"once","milliseconds":60000}}`)
	}()
	harness.Within(t, "the call has begun", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return strings.Contains(string(b), "once\n")
	})
	all[i].Kill()
	if a := <-unsafe; a.Status != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("a call that was lost: %d %v %s", a.Status, a.Header, a.Body)
	}
	began := time.Now()
	if got := where(other).Output.PID; got == pid {
		t.Error("the dead process answers")
	}
	t.Logf("a safe call during the hand-over took %s", time.Since(began).Round(time.Millisecond))
	where(third)
	b, _ := os.ReadFile(filepath.Join(dir, "calls"))
	if n := strings.Count(string(b), "once\n"); n != 1 {
		t.Errorf("the call that was lost was made %d times", n)
	}
	all[i].Launch()
	where(all[i])

	// Its controller stands still: the process does not go on beside that on another node.
	f := await(t, all[i], all, "plugin/lone", -1)
	frozen := where(all[f]).Output.PID
	harness.Freeze(t, all[f].PID())
	defer func() { _ = syscall.Kill(all[f].PID(), syscall.SIGCONT) }()
	t.Logf("node %d with process %d stands still; it runs %d, asked was node %d", f, all[f].PID(), frozen, i)
	began = time.Now()
	where(all[(f+1)%3])
	t.Logf("the next call took %s", time.Since(began).Round(time.Millisecond))
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", frozen)); err == nil && !strings.Contains(string(b), ") Z") {
		t.Errorf("another node runs the plugin, and the process of the frozen one lives: %s", b)
	}
	_ = syscall.Kill(all[f].PID(), syscall.SIGCONT)
	harness.Within(t, "the frozen node is a member again", func() bool { return len(statusOf(all[f]).Members) == 3 })
	where(all[f])

	// Stopped in order, it is elsewhere at once.
	j := await(t, all[i], all, "plugin/lone", -1)
	all[j].Ctl("cluster:step-down plugin/lone --for 5s")
	for _, c := range all {
		where(c)
	}
	if k, _ := holder(all[i], all, "plugin/lone"); k == j {
		t.Error("a node that stepped down runs it still")
	}
}
