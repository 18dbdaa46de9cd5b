//go:build peers

package truthpeers

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// duration is how long each history is recorded: CTL_TRUTH_SECONDS, else 30 s.
func duration() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("CTL_TRUTH_SECONDS")); err == nil {
		return time.Duration(n) * time.Second
	}
	return 30 * time.Second
}

// trouble does something to the cluster and repairs it.
type trouble struct {
	name string
	do   func(rest func(time.Duration))
}

// record runs workers for a while, with one trouble after the other, and checks.
func record(t *testing.T, urls []string, step func(context.Context, *worker, string), troubles []trouble) {
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
	wg := crowd(ctx, 8, urls, h, step)
	rest(2 * time.Second)
	for i := rand.IntN(100); ctx.Err() == nil && len(troubles) > 0; i++ {
		x := troubles[i%len(troubles)]
		t.Logf("%7.1f s: %s", float64(h.now())/1e9, x.name)
		x.do(rest)
		rest(2 * time.Second)
	}
	<-ctx.Done()
	wg.Wait()
	h.check(t)
}

// domain makes topology t with domain 1, which the channels belong to.
func domain(t *testing.T, c *harness.Controller) {
	t.Helper()
	const admin = "admin:admin"
	harness.Within(t, "the topology is made", func() bool {
		a := c.Do("PUT", "/rests/data/bier-topology:bier-network-topology/bier-topology=t", admin, `{"bier-topology:bier-topology":[{"topology-id":"t"}]}`)
		return a.Status == 201 || a.Status == 204
	})
	if a := c.Do("POST", "/restconf/operations/bier-topology-api:configure-domain", admin, `{"input":{"topology-id":"t","domain":[1]}}`); !strings.Contains(a.Body, "SUCCESS") {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
}

func urls(all []*harness.Controller) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.HTTP)
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
func everything(etcd []*member, all []*harness.Controller) []trouble {
	freeze := 5 * time.Second
	if duration() > time.Minute {
		freeze = 30 * time.Second
	}
	stop := func(name string, pid func() int) trouble {
		return trouble{name, func(rest func(time.Duration)) {
			_ = syscall.Kill(pid(), syscall.SIGSTOP)
			rest(freeze)
			_ = syscall.Kill(pid(), syscall.SIGCONT)
		}}
	}
	out := []trouble{
		{"kill -9 of a controller", func(rest func(time.Duration)) {
			c := all[rand.IntN(len(all))]
			c.Kill()
			rest(time.Second)
			c.Launch()
		}},
		{"kill -9 of the channel plugin", func(func(time.Duration)) { killPlugin(all[rand.IntN(len(all))], "bier-channel") }},
		{"plugin:reload", func(func(time.Duration)) { _, _ = all[rand.IntN(len(all))].TryCtl("plugin:reload bier-channel") }},
	}
	if len(etcd) == 0 {
		return out
	}
	return append(out,
		trouble{"kill -9 of a member of etcd", func(rest func(time.Duration)) {
			m := etcd[rand.IntN(len(etcd))]
			m.kill()
			rest(2 * time.Second)
			m.start()
		}},
		stop("a controller is frozen", all[rand.IntN(len(all))].PID),
		stop("a member of etcd is frozen", func() int { return etcd[0].cmd.Process.Pid }),
		stop("another member of etcd is frozen", func() int { return etcd[1].cmd.Process.Pid }),
	)
}

// Users and channels over three nodes, while everything that can die or freeze does.
func TestThreeNodesAreOneTruth(t *testing.T) {
	etcd := members(t, here)
	all := nodes(t, 3, etcd)
	all[0].Ctl("feature:install ctl-bier-all")
	for _, c := range all {
		harness.Within(t, "the feature runs at each node", func() bool {
			return c.Do("POST", "/restconf/operations/bier-channel-api:get-channel", "admin:admin", `{"input":{"topology-id":"t"}}`).Status == 200
		})
	}
	domain(t, all[0])
	t.Run("channels", func(t *testing.T) { record(t, urls(all), channel, everything(etcd, all)) })
	t.Run("users", func(t *testing.T) { record(t, urls(all), user, everything(etcd, all)) })
}

// One node on the embedded engine, reloaded and killed under writers.
func TestOneNodeIsOneTruth(t *testing.T) {
	c := harness.Run(t, harness.Options{Bin: bin, Files: map[string]string{"ctl.yaml": "aaa:\n  throttle: {after: 100000}\n  argon2: {memory: 8MiB, time: 1}\n", "sec.ini": secINI(t)}})
	c.Args = []string{"--http", c.HTTP[len("http://"):]}
	c.Ctl("feature:install ctl-bier-all")
	domain(t, c)
	t.Run("channels", func(t *testing.T) { record(t, []string{c.HTTP}, channel, everything(nil, []*harness.Controller{c})) })
	t.Run("users", func(t *testing.T) { record(t, []string{c.HTTP}, user, everything(nil, []*harness.Controller{c})) })
}
