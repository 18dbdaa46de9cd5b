//go:build peers

package truthpeers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// chaosTime is how long each fault is there, and whether all faults are made: CTL_CHAOS_SECONDS, which make chaos sets. The
// short form makes some, for 2 s each.
func chaosTime() (each time.Duration, all bool) {
	n, err := strconv.Atoi(os.Getenv("CTL_CHAOS_SECONDS"))
	if err != nil {
		return 2 * time.Second, false
	}
	return time.Duration(n) * time.Second, true
}

// chaos is a fault that begins and ends.
type chaos struct {
	name       string
	begin, end func()
	short      bool // it belongs to the short form, too
}

// step is one of a client on a register.
type step func(ctx context.Context, w *worker, key string)

// kindsOf are registers of each kind that no other fault uses: a history begins with registers that are empty.
func kindsOf(id string) map[string]step {
	return map[string]step{
		"users":    func(ctx context.Context, w *worker, key string) { user(ctx, w, key+"-"+id) },
		"channels": func(ctx context.Context, w *worker, key string) { channelOf(ctx, w, id, key) },
		"derived":  func(ctx context.Context, w *worker, key string) { derivedOf(ctx, w, "d"+id, key) },
	}
}

// Each fault alone, under clients of all nodes: what was acknowledged is there, nothing is stale, and the longest time that
// a node answered no write and no read is measured. With CTL_CHAOS_TABLE the table is written into that document.
func TestChaos(t *testing.T) {
	var rows []string
	t.Run("cluster", func(t *testing.T) { rows = append(rows, clusterChaos(t)...) })
	t.Run("one node", func(t *testing.T) { rows = append(rows, diskChaos(t)...) })
	head := []string{"| Fault | Calls | Longest gap at each node: writes, reads | Histories |", "|---|---|---|---|"}
	rows = append(head, rows...)
	t.Log("\n" + strings.Join(rows, "\n"))
	if path := os.Getenv("CTL_CHAOS_TABLE"); path != "" && !t.Failed() {
		writeTable(t, path, rows)
	}
}

// makeChaos makes one fault after the other and returns the rows of the table.
func makeChaos(t *testing.T, where string, at []endpoint, faults []chaos) (rows []string) {
	t.Helper()
	each, all := chaosTime()
	for number, fault := range faults {
		if !all && !fault.short {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			rows = append(rows, makeFault(t, fmt.Sprint(where, number), each, at, fault))
		})
	}
	return rows
}

// makeFault makes one fault under clients, and returns its row.
func makeFault(t *testing.T, id string, each time.Duration, at []endpoint, fault chaos) string {
	t.Helper()
	makeTopology(t, at[:1], id)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	histories := map[string]*history{}
	var clients []*sync.WaitGroup
	for name, step := range kindsOf(id) {
		h := &history{began: time.Now()}
		histories[name] = h
		clients = append(clients, crowd(ctx, 3, at, h, step))
	}
	gaps := make([]gap, len(at))
	var probes sync.WaitGroup
	for i := range at {
		probes.Go(func() { gaps[i] = measureGap(ctx, at[i], i) })
	}
	rest(time.Second)
	fault.begin()
	rest(each)
	fault.end()
	rest(min(each, 3*time.Second))
	cancel()
	for _, c := range clients {
		c.Wait()
	}
	probes.Wait()
	calls := 0
	for name, h := range histories {
		t.Log(name)
		h.check(t)
		calls += len(h.calls)
	}
	verdict := "linearizable: 0 lost, 0 stale, 0 doubled"
	if t.Failed() {
		verdict = "**not linearizable**"
	}
	var longest []string
	for _, g := range gaps {
		longest = append(longest, fmt.Sprintf("%.1f, %.1f s", g.write.Seconds(), g.read.Seconds()))
	}
	return fmt.Sprintf("| %s | %d | %s | %s |", fault.name, calls, strings.Join(longest, "; "), verdict)
}

// makeTopology makes a topology with domain 1, which channels belong to.
func makeTopology(t *testing.T, at []endpoint, id string) {
	t.Helper()
	w := &worker{nodes: at, rnd: rand.New(rand.NewPCG(1, 1)), h: &history{}}
	harness.Within(t, "the topology is made", func() bool {
		status, _ := w.ask(t.Context(), "PUT", "/rests/data/bier-topology:bier-network-topology/bier-topology="+id, fmt.Sprintf(`{"bier-topology:bier-topology":[{"topology-id":%q}]}`, id))
		return status == http.StatusCreated || status == http.StatusNoContent
	})
	harness.Within(t, "its domain is made", func() bool {
		_, body := w.ask(t.Context(), "POST", "/restconf/operations/bier-topology-api:configure-domain", fmt.Sprintf(`{"input":{"topology-id":%q,"domain":[1]}}`, id))
		return strings.Contains(body, "SUCCESS") || strings.Contains(body, "exists already")
	})
}

func rest(d time.Duration) { <-time.After(d) }

// gap is the longest time between two successful writes, and between two successful reads, of one node.
type gap struct{ write, read time.Duration }

// measureGap writes and reads at one node until ctx ends.
func measureGap(ctx context.Context, node endpoint, n int) (longest gap) {
	path := fmt.Sprintf("/rests/data/network-topology:network-topology/topology=gap%d", n)
	// Each write changes something: one that does not would need no disk.
	body := func(i int) string {
		return fmt.Sprintf(`{"network-topology:topology":[{"topology-id":"gap%d","node":[{"node-id":"n%d"}]}]}`, n, i)
	}
	probe := func(method string, body func(int) string, seed uint64, into *time.Duration) {
		w := &worker{nodes: []endpoint{node}, rnd: rand.New(rand.NewPCG(uint64(n), seed)), h: &history{}}
		last := time.Now()
		for i := 0; ctx.Err() == nil; i++ {
			status, _ := w.ask(ctx, method, path, body(i))
			if status == http.StatusOK || status == http.StatusCreated || status == http.StatusNoContent {
				*into = max(*into, time.Since(last))
				last = time.Now()
			}
		}
		*into = max(*into, time.Since(last))
	}
	var both sync.WaitGroup
	both.Go(func() { probe("PUT", body, 9, &longest.write) })
	both.Go(func() { probe("GET", func(int) string { return "" }, 10, &longest.read) })
	both.Wait()
	return longest
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
