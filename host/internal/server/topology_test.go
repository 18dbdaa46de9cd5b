package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/large"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/topology"
)

// publisherOn is what writes topologies, on a store.
func publisherOn(t testing.TB, store datastore.Store) *publishing {
	t.Helper()
	modules, err := hostModules()
	if err != nil {
		t.Fatal(err)
	}
	set, err := yang.Load(yangSources([]*pluginv1.Manifest{modules})...)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{raw: store, store: store, log: slog.New(slog.DiscardHandler)}
	p := s.newPublishing(map[string]publication{})
	p.schema = func() *yang.Set { return set }
	return p
}

// site is a topology of switches in a row.
func site(switches, ports int) topology.Topology {
	t := topology.Topology{ID: "switch:1", Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
	for i := range switches {
		n := topology.Node{ID: fmt.Sprintf("switch:%05d", i), TPs: map[string]topology.TerminationPoint{}, Attributes: map[string]string{"answering": "true"}}
		for j := range ports {
			id := fmt.Sprintf("%s:%d", n.ID, j)
			n.TPs[id] = topology.TerminationPoint{ID: id, Attributes: map[string]string{"state": "up"}}
		}
		t.Nodes[n.ID] = n
		if i > 0 {
			id := fmt.Sprint("l", i)
			t.Links[id] = topology.Link{ID: id, SourceNode: fmt.Sprintf("switch:%05d", i-1), DestNode: n.ID}
		}
	}
	return t
}

func viewOf(t topology.Topology) *topomirror.View {
	return &topomirror.View{Synced: true, Topologies: map[string]topology.Topology{t.ID: t}, Sources: map[string]string{t.ID: "switch"},
		Running: map[string]bool{"switch": true}, Versions: map[string]uint64{t.ID: uint64(len(t.Nodes))}}
}

// stored counts the documents of a topology by what they are.
func stored(t testing.TB, s datastore.Store) (nodes, ports, links int) {
	t.Helper()
	_, err := s.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(tree.OperationalNamespace, datastore.RangeOptions{Shared: true}) {
			if err != nil {
				return err
			}
			switch last := e.Key[strings.LastIndexByte(e.Key, '/')+1:]; {
			case strings.HasPrefix(last, "node="):
				nodes++
			case strings.HasPrefix(last, "termination-point="):
				ports++
			case strings.HasPrefix(last, "link="):
				links++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return nodes, ports, links
}

// A topology of any size is in the operational tree, whole, when it grows and when it shrinks.
// CTL_TEST_SWITCHES=5000 asks for more switches than there is time for each day.
func TestLargeTopologiesArePublished(t *testing.T) {
	sizes := []int{500, 1000, 500}
	if n := 0; os.Getenv("CTL_TEST_SWITCHES") != "" {
		if _, err := fmt.Sscan(os.Getenv("CTL_TEST_SWITCHES"), &n); err != nil {
			t.Fatal(err)
		}
		sizes = []int{n, n, n / 2}
	}
	engine, err := badger.Open(badger.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	store := large.Of(engine, slog.New(slog.DiscardHandler))
	defer store.Close()
	p := publisherOn(t, store)
	for _, n := range sizes {
		if again := p.publishView(t.Context(), viewOf(site(n, 48))); again != nil {
			t.Fatalf("%d switches: %v", n, p.s.lateTopologies())
		}
		if nodes, ports, links := stored(t, store); nodes != n || ports != 48*n || links != n-1 {
			t.Errorf("of %d switches %d are there, with %d ports and %d links", n, nodes, ports, links)
		}
	}
}

// refusing is a store that does not take topologies while the test says so.
type refusing struct {
	datastore.Store
	on bool
}

func (r *refusing) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if r.on && len(t.Ops) > 2 {
		return 0, errors.New("the disk is slow")
	}
	return r.Store.Commit(ctx, t)
}

// While a topology cannot be written it is reported everywhere: the state of its plugin, the metric,
// and who reads it, unless they ask for what there is. It is tried again.
func TestATopologyThatIsBehindSaysSo(t *testing.T) {
	store := &refusing{Store: storetest.New(storetest.Options{})}
	defer store.Close()
	p := publisherOn(t, store)
	ctx := t.Context()
	const path = "/network-topology:network-topology/topology=switch:1"
	if again := p.publishView(ctx, viewOf(site(2, 1))); again != nil || p.s.sourceBehind("switch") != "" || p.s.checkCurrent(ctx, path) != nil {
		t.Fatalf("it is behind: %v", p.s.lateTopologies())
	}
	store.on = true
	if again := p.publishView(ctx, viewOf(site(3, 1))); again == nil {
		t.Error("it is not tried again")
	}
	if why := p.s.sourceBehind("switch"); !strings.Contains(why, "the disk is slow") {
		t.Errorf("the state of the plugin says %q", why)
	}
	for at, refused := range map[string]bool{path: true, path + "/node=x": true, "/network-topology:network-topology": true,
		"/network-topology:network-topology/topology": true, path + "2": false, "/network-topology:network-topology/topology=switch": false, "/network-topology:network-topology/topology=other": false, "/m:x": false} {
		err := p.s.checkCurrent(ctx, at)
		if (fault.KindOf(err) == fault.Unavailable) != refused || refused && !strings.Contains(err.Error(), "the disk is slow") {
			t.Errorf("%s: %v", at, err)
		}
		if err := p.s.checkCurrent(datastore.AskLocal(ctx), at); err != nil {
			t.Errorf("%s as it is: %v", at, err)
		}
	}
	store.on = false
	if again := p.publishView(ctx, viewOf(site(3, 1))); again != nil || p.s.sourceBehind("switch") != "" || p.s.checkCurrent(ctx, path) != nil {
		t.Errorf("it is still behind: %v", p.s.lateTopologies())
	}
	if nodes, _, _ := stored(t, store); nodes != 3 {
		t.Errorf("%d switches are there", nodes)
	}
}

// The tree says who observed a topology when, and that it does not any more.
func TestTheTreeSaysWhenItWasObserved(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	p := publisherOn(t, store)
	clock := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	p.tree.Now = func() time.Time { return clock }
	at := site(2, 1)
	n := at.Nodes["switch:00001"]
	n.Observed, n.Attributes = clock.Add(-time.Hour), map[string]string{"answering": "false"}
	at.Nodes[n.ID] = n
	says := func(running bool, observed time.Time, want ...string) {
		t.Helper()
		at.Observed = observed
		view := viewOf(at)
		view.Running["switch"] = running
		if again := p.publishView(t.Context(), view); again != nil {
			t.Fatal("it was not written")
		}
		text, err := p.tree.Get(t.Context(), p.schema(), "/network-topology:network-topology/topology=switch:1")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("at %s: %s, want %s", clock, text, w)
			}
		}
	}
	say := func(state, observed string) []string {
		return []string{`"ctl-topology:source":"switch"`, `"ctl-topology:source-state":"` + state + `"`, `"ctl-topology:observed":"2026-11-26T` + observed + `Z"`,
			`"ctl-topology:observed":"2026-11-26T09:00:00Z"`}
	}
	first := clock
	says(true, first, say("observing", "10:00:00")...)
	clock = clock.Add(time.Minute)
	says(true, clock, say("observing", "10:01:00")...)
	last := clock
	clock = clock.Add(2 * time.Minute)
	says(true, last, say("observing", "10:01:00")...)
	clock = clock.Add(2 * time.Minute)
	says(true, last, say("silent", "10:01:00")...)
	says(false, last, say("stopped", "10:01:00")...)
	clock = clock.Add(time.Second)
	says(true, clock, say("observing", "10:05:01")...)
}

// A source that observed once and then hangs is silent after some minutes, also for the node that takes the role over; the
// metric has the time and the state.
func TestASourceThatObservedOnceAndHangs(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	p := publisherOn(t, store)
	clock := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	p.tree.Now = func() time.Time { return clock }
	at := site(2, 1)
	at.Observed = clock.Add(-time.Second)
	metric := func() string {
		t.Helper()
		reg := prometheus.NewRegistry()
		reg.MustRegister(topologyMetrics{p.s})
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(families)
	}
	for _, c := range []struct {
		after time.Duration
		state string
	}{{0, "observing"}, {9 * time.Minute, "observing"}, {2 * time.Minute, "silent"}} {
		clock = clock.Add(c.after)
		if again := p.publishView(t.Context(), viewOf(at)); again != nil {
			t.Fatal("it was not written")
		}
		text, err := p.tree.Get(t.Context(), p.schema(), "/network-topology:network-topology/topology=switch:1")
		if err != nil || !strings.Contains(string(text), `"ctl-topology:source-state":"`+c.state+`"`) {
			t.Errorf("at %s: %s %v, want %s", clock, text, err, c.state)
		}
		found := metric()
		for _, want := range []string{"ctl_topology_observed_timestamp_seconds", c.state, fmt.Sprint(float64(at.Observed.Unix()))} {
			if !strings.Contains(found, want) {
				t.Errorf("at %s: %s, want %s", clock, found, want)
			}
		}
	}
	p.s.topologiesSeen.Store(nil)
	if found := metric(); found != "[]" {
		t.Errorf("a node that does not write them has %s", found)
	}
}
