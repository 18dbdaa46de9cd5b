//go:build peers

package truthpeers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// duration is how long each history is recorded: CTL_TRUTH_SECONDS, else 15 s.
func duration() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("CTL_TRUTH_SECONDS")); err == nil {
		return time.Duration(n) * time.Second
	}
	return 15 * time.Second
}

// trouble does something to the cluster and repairs it.
type trouble struct {
	name string
	do   func(rest func(time.Duration))
	ends bool // no call that was answered before can act after it
}

// record runs workers for a while, with one trouble after the other, and checks.
func record(t *testing.T, nodes []endpoint, step func(context.Context, *worker, string), troubles []trouble) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration())
	defer cancel()
	rest := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	h := &history{began: time.Now()}
	wg := crowd(ctx, 8, nodes, h, step)
	rest(2 * time.Second)
	for i := rand.IntN(100); ctx.Err() == nil && len(troubles) > 0; i++ {
		x := troubles[i%len(troubles)]
		t.Logf("%7.1f s: %s", float64(h.now())/1e9, x.name)
		begin := h.now()
		x.do(rest)
		if x.ends {
			h.ends = append(h.ends, [2]int64{begin, h.now()})
		}
		rest(2 * time.Second)
	}
	<-ctx.Done()
	wg.Wait()
	h.check(t)
}

// recordAll records a history of each kind of data.
func recordAll(t *testing.T, nodes []endpoint, troubles []trouble) {
	t.Helper()
	for _, k := range []struct {
		name string
		step func(context.Context, *worker, string)
	}{{"channels", channel}, {"domains", domain}, {"routers", router}, {"counters", counter}, {"users", user}, {"derived", derived}} {
		t.Run(k.name, func(t *testing.T) { record(t, nodes, k.step, troubles) })
	}
}

// prepare makes topology t with domain 1, which channels and routers belong to, and the
// routers that count.
func prepare(t *testing.T, nodes []endpoint) {
	t.Helper()
	w := &worker{nodes: nodes[:1], rnd: rand.New(rand.NewPCG(1, 1)), h: &history{}}
	harness.Within(t, "the topology is made", func() bool {
		status, _ := w.ask(t.Context(), "PUT", topology, `{"bier-topology:bier-topology":[{"topology-id":"t"}]}`)
		return status == 201 || status == 204
	})
	if _, body := w.ask(t.Context(), "POST", "/restconf/operations/bier-topology-api:configure-domain", `{"input":{"topology-id":"t","domain":[1]}}`); !strings.Contains(body, "SUCCESS") {
		t.Fatal(body)
	}
	for i := range keys {
		name := fmt.Sprint("count-k", i)
		if status, body := w.ask(t.Context(), "PUT", topology+"/bier-node="+name, fmt.Sprintf(`{"bier-topology:bier-node":[{"node-id":%q}]}`, name)); status != 201 {
			t.Fatal(status, body)
		}
	}
}

// reached are controllers as clients on this machine reach them.
func reached(all ...*harness.Controller) (out []endpoint) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	for _, c := range all {
		out = append(out, endpoint{c.HTTP, client})
	}
	return out
}

// killPlugin ends the process of a plugin, if it runs.
func killPlugin(c *harness.Controller, name string) {
	out, err := c.TryCtl("plugin:list --format json")
	if err != nil {
		return
	}
	var list []struct {
		Name string `json:"name"`
		PID  int    `json:"pid"`
	}
	if json.Unmarshal([]byte(out), &list) != nil {
		return
	}
	for _, p := range list {
		if p.Name == name && p.PID > 0 {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
}

// Troubles of every kind, at nodes and at members of etcd.
func everything(etcd []*harness.EtcdMember, all []*harness.Controller) []trouble {
	freeze := 5 * time.Second
	if duration() > time.Minute {
		freeze = 30 * time.Second
	}
	stop := func(name string, signal func(syscall.Signal)) trouble {
		return trouble{name: name, do: func(rest func(time.Duration)) {
			signal(syscall.SIGSTOP)
			rest(freeze)
			signal(syscall.SIGCONT)
		}}
	}
	out := []trouble{
		{name: "kill -9 of a controller", ends: len(etcd) == 0, do: func(rest func(time.Duration)) {
			c := all[rand.IntN(len(all))]
			c.Kill()
			rest(time.Second)
			c.Launch()
		}},
		{name: "kill -9 of the channel plugin", do: func(func(time.Duration)) { killPlugin(all[rand.IntN(len(all))], "bier-channel") }},
		{name: "plugin:reload", do: func(func(time.Duration)) { _, _ = all[rand.IntN(len(all))].TryCtl("plugin:reload bier-channel") }},
	}
	if len(etcd) == 0 {
		return out
	}
	return append(out,
		trouble{name: "kill -9 of the topology plugin", do: func(func(time.Duration)) { killPlugin(all[rand.IntN(len(all))], "bier-topomanager") }},
		trouble{name: "the role of the topologies moves", do: func(func(time.Duration)) {
			_, _ = all[rand.IntN(len(all))].TryCtl("cluster:step-down bier-import --for 1s")
		}},
		trouble{name: "kill -9 of a member of etcd", do: func(rest func(time.Duration)) {
			m := etcd[rand.IntN(len(etcd))]
			m.Kill()
			rest(2 * time.Second)
			m.Start()
		}},
		stop("a controller is frozen", func(s syscall.Signal) { _ = syscall.Kill(all[1].PID(), s) }),
		stop("a member of etcd is frozen", etcd[0].Signal),
		stop("another member of etcd is frozen", etcd[1].Signal),
	)
}

// Channels, topologies, counters and users over three nodes, while everything that can die
// or freeze does.
func TestThreeNodesAreOneTruth(t *testing.T) {
	etcd := harness.EtcdCluster(t, 3)
	all := nodes(t, 3, etcd)
	all[0].Ctl("feature:install ctl-bier-all")
	for _, c := range all {
		harness.Within(t, "the feature runs at each node", func() bool {
			return c.Do("POST", "/restconf/operations/bier-channel-api:get-channel", "admin:admin", `{"input":{"topology-id":"t"}}`).Status == 200
		})
	}
	prepare(t, reached(all...))
	recordAll(t, reached(all...), everything(etcd, all))
}

// One node on the embedded engine, reloaded and killed under writers.
func TestOneNodeIsOneTruth(t *testing.T) {
	c := harness.Run(t, harness.Options{Bin: bin, Files: settings(t)})
	c.Args = []string{"--http", c.HTTP[len("http://"):]}
	c.Ctl("feature:install ctl-bier-all")
	prepare(t, reached(c))
	beside(t, c)
	recordAll(t, reached(c), everything(nil, []*harness.Controller{c}))
}
