//go:build peers

package truthpeers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// chaosTime is how long each fault is there: CTL_CHAOS_SECONDS, which make chaos sets.
func chaosTime(t *testing.T) time.Duration {
	n, err := strconv.Atoi(os.Getenv("CTL_CHAOS_SECONDS"))
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer, etcd under faults for some minutes, runs by make chaos, which sets CTL_CHAOS_SECONDS")
	}
	return time.Duration(n) * time.Second
}

// chaos is a fault that begins and ends.
type chaos struct {
	name       string
	begin, end func()
}

// Each fault alone, under clients of all nodes: what was acknowledged is there, nothing is
// stale, and the longest time that a node answered no write and no read is measured. With
// CTL_CHAOS_TABLE the table is written into that document.
func TestChaos(t *testing.T) {
	long := chaosTime(t)
	etcd := harness.EtcdCluster(t, 3)
	all := nodes(t, 3, etcd)
	at := reached(all...)
	rows := []string{"| Fault | Calls | Longest gap at each node | Histories |", "|---|---|---|---|"}
	for number, fault := range faults(t, etcd) {
		// Users of its own: a history begins with registers that are empty.
		ownUser := func(ctx context.Context, w *worker, key string) { user(ctx, w, fmt.Sprintf("%s-%d", key, number)) }
		t.Run(fault.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := &history{began: time.Now()}
			clients := crowd(ctx, 6, at, h, ownUser)
			var gaps [3]time.Duration
			var probes sync.WaitGroup
			for i := range at {
				probes.Go(func() { gaps[i] = longestGap(ctx, at[i], i) })
			}
			rest(time.Second)
			fault.begin()
			rest(long)
			fault.end()
			rest(2 * time.Second)
			cancel()
			clients.Wait()
			probes.Wait()
			h.check(t)
			verdict := "linearizable: 0 lost, 0 stale, 0 doubled"
			if t.Failed() {
				verdict = "**not linearizable**"
			}
			rows = append(rows, fmt.Sprintf("| %s | %d | %.1f s, %.1f s, %.1f s | %s |", fault.name, len(h.calls), gaps[0].Seconds(), gaps[1].Seconds(), gaps[2].Seconds(), verdict))
		})
	}
	t.Log("\n" + strings.Join(rows, "\n"))
	if path := os.Getenv("CTL_CHAOS_TABLE"); path != "" {
		writeTable(t, path, rows)
	}
}

func rest(d time.Duration) { <-time.After(d) }

func faults(t *testing.T, etcd []*harness.EtcdMember) []chaos {
	leader := func() *harness.EtcdMember {
		for {
			if i := slices.IndexFunc(etcd, (*harness.EtcdMember).Leader); i >= 0 {
				return etcd[i]
			}
			rest(50 * time.Millisecond)
		}
	}
	follower := func() *harness.EtcdMember {
		m := leader()
		i := slices.Index(etcd, m)
		return etcd[(i+1+rand.IntN(2))%3]
	}
	var now *harness.EtcdMember
	kill := func(name string, which func() *harness.EtcdMember) chaos {
		return chaos{name, func() { now = which(); now.Kill() }, func() { now.Start() }}
	}
	freeze := func(name string, which func() *harness.EtcdMember) chaos {
		return chaos{name, func() { now = which(); now.Signal(syscall.SIGSTOP) }, func() { now.Signal(syscall.SIGCONT) }}
	}
	return []chaos{
		{"none", func() {}, func() {}},
		kill("a follower of etcd is killed", follower), freeze("a follower of etcd is frozen", follower),
		kill("the leader of etcd is killed", leader), freeze("the leader of etcd is frozen", leader),
		compacting(t, etcd),
	}
}

// compacting compacts etcd to its newest revision and defragments a member, again and again.
func compacting(t *testing.T, etcd []*harness.EtcdMember) chaos {
	var stop context.CancelFunc
	var loop sync.WaitGroup
	begin := func() {
		var ctx context.Context
		ctx, stop = context.WithCancel(t.Context())
		loop.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				m := etcd[i%3].Client
				_ = exec.CommandContext(ctx, "sh", "-c", `r=$(etcdctl --endpoints "$0" get x -w fields | sed -n 's/.*Revision. : //p'); etcdctl --endpoints "$0" compact $r; etcdctl --endpoints "$0" defrag`, m).Run()
			}
		})
	}
	return chaos{"etcd is compacted and defragmented in a loop", begin, func() { stop(); loop.Wait() }}
}

// longestGap writes and reads at one node until ctx ends, and returns the longest time
// between two that succeeded.
func longestGap(ctx context.Context, node endpoint, n int) (longest time.Duration) {
	w := &worker{nodes: []endpoint{node}, rnd: rand.New(rand.NewPCG(uint64(n), 9)), h: &history{}}
	path := fmt.Sprintf("/rests/data/network-topology:network-topology/topology=gap%d", n)
	body := fmt.Sprintf(`{"network-topology:topology":[{"topology-id":"gap%d"}]}`, n)
	last := time.Now()
	for ctx.Err() == nil {
		wrote, _ := w.ask(ctx, "PUT", path, body)
		read, _ := w.ask(ctx, "GET", path, "")
		if (wrote == 201 || wrote == 204) && read == 200 {
			longest, last = max(longest, time.Since(last)), time.Now()
		}
	}
	return max(longest, time.Since(last))
}

// writeTable replaces what is between the two marks of a document.
func writeTable(t *testing.T, path string, rows []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), chaosBegin)
	_, after, ended := strings.Cut(rest, chaosEnd)
	if !found || !ended {
		t.Fatalf("%s does not have the lines %q and %q", path, chaosBegin, chaosEnd)
	}
	if err := os.WriteFile(path, []byte(before+chaosBegin+"\n"+strings.Join(rows, "\n")+"\n"+chaosEnd+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	chaosBegin = "<!-- chaos: written by make chaos -->"
	chaosEnd   = "<!-- chaos: end -->"
)
