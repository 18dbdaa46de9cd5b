package server

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/host/internal/troubles"
	"ctl.internal/sdk/topology"
)

// cable is both directions of a link between the first ports of two nodes.
func cable(a, b string) []topology.Link {
	pa, pb := a+":1", b+":1"
	return []topology.Link{
		{ID: pa + pb, SourceNode: a, SourceTP: pa, DestNode: b, DestTP: pb},
		{ID: pb + pa, SourceNode: b, SourceTP: pb, DestNode: a, DestTP: pa},
	}
}

// network is a topology of nodes a, b and c, with these links.
func network(links ...topology.Link) topology.Topology {
	t := topology.Topology{ID: "net:1", Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
	for _, id := range []string{"a", "b", "c"} {
		t.Nodes[id] = topology.Node{
			ID:         id,
			TPs:        map[string]topology.TerminationPoint{id + ":1": {ID: id + ":1", Attributes: map[string]string{"state": "down"}}},
			Attributes: map[string]string{"name": "sw-" + id, "answering": "true"},
		}
	}
	for _, l := range links {
		t.Links[l.ID] = l
	}
	return t
}

func without(t topology.Topology, node string) topology.Topology {
	delete(t.Nodes, node)
	return t
}

// versions are of the views that changedTo returns.
var versions atomic.Uint64

// changedTo is a view in which a topology has changed to this.
func changedTo(t topology.Topology) *topomirror.View {
	v := viewOf(t)
	v.Versions[t.ID] = versions.Add(1)
	return v
}

// unlisted is a topology of a source that has no list of its nodes: they connect.
func unlisted(t topology.Topology) topology.Topology {
	for _, n := range t.Nodes {
		delete(n.Attributes, "answering")
	}
	return t
}

// inShort writes troubles as kind subject, in one line.
func inShort(all []troubles.Trouble) string {
	var out []string
	for _, t := range all {
		out = append(out, t.Kind+" "+t.Subject)
	}
	return strings.Join(out, ", ")
}

func TestLosses(t *testing.T) {
	ab, bc := cable("a", "b"), cable("b", "c")
	both := append(append([]topology.Link{}, ab...), bc...)
	silent := network(both...)
	silent.Nodes["c"].Attributes["answering"] = "false"
	connected := unlisted(network(both...))
	outside := network(both...)
	outside.Nodes["c"].Attributes["answering"], outside.Nodes["c"].Attributes["type"] = "false", "other"
	inferred := cable("a", "c")
	inferred[0].Attributes = map[string]string{"inferred": "true"}
	for _, c := range []struct {
		name        string
		first, then topology.Topology
		want        string
	}{
		{"nothing", network(both...), network(both...), ""},
		{"a cut link is one trouble", network(both...), network(bc...), "link-lost sw-a port 1 – sw-b port 1"},
		{"one direction is no cut", network(both...), network(ab[0], bc[1]), ""},
		{"a lost node says it for its links", connected, without(network(ab...), "c"), "node-lost sw-c"},
		{"a node that was taken out of its list", network(both...), without(network(ab...), "c"), ""},
		{"an inferred link comes and goes", network(inferred[0]), network(), ""},
		{"a silent node", network(both...), silent, "node-silent sw-c"},
		{"a neighbour that is not managed never answers", network(both...), outside, ""},
	} {
		now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
		l := newLosses(24*time.Hour, func() time.Time { return now }, nil)
		l.compare(changedTo(c.first), nil)
		if got := inShort(l.compare(changedTo(c.then), nil)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		now = now.Add(25 * time.Hour)
		if got := inShort(l.compare(changedTo(c.then), nil)); strings.Contains(got, "lost") {
			t.Errorf("%s: it is still lost after its time: %s", c.name, got)
		}
	}
}

// A lost link is listed by the next holder of the role, too, until it comes back.
func TestLossesGoOn(t *testing.T) {
	links := cable("a", "b")
	now := func() time.Time { return time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC) }
	l := newLosses(time.Hour, now, nil)
	l.compare(changedTo(network(links...)), nil)
	lost := l.compare(changedTo(network()), nil)
	next := newLosses(time.Hour, now, lost)
	if got := inShort(next.compare(changedTo(network()), nil)); !strings.HasPrefix(got, "link-lost") {
		t.Errorf("the next holder: %q", got)
	}
	if got := inShort(next.compare(changedTo(network(links[1])), nil)); got != "" {
		t.Errorf("it is back: %q", got)
	}
	next = newLosses(time.Hour, now, lost)
	if got := inShort(next.compare(&topomirror.View{Synced: true}, nil)); got != "" {
		t.Errorf("of a topology that is not there any more: %q", got)
	}
}

// A link that was cut while no controller ran is found by what is stored.
func TestLossesWhileNoControllerRan(t *testing.T) {
	p := publisherOn(t, storetest.New(storetest.Options{}))
	view := viewOf(network(cable("a", "b")...))
	if again := p.publishView(t.Context(), view); again != nil {
		t.Fatal("the topology could not be written")
	}
	l := p.s.lostBefore()
	want := "link-lost sw-a port 1 – sw-b port 1"
	if got := inShort(l.compare(changedTo(network()), nil)); !strings.Contains(got, "link-lost sw-") || len(got) != len(want) {
		t.Errorf("%q, want %q", got, want)
	}
	sources := p.s.storedSources()
	if len(sources) != 1 || sources[0].Name != "net:1" || sources[0].Plugin != "switch" || sources[0].State != "observing" {
		t.Errorf("sources: %v", sources)
	}
}

// What was taken out of the list of its source while no controller ran is no trouble.
func TestTakenOutWhileNoControllerRan(t *testing.T) {
	p := publisherOn(t, storetest.New(storetest.Options{}))
	if again := p.publishView(t.Context(), viewOf(network(cable("a", "b")...))); again != nil {
		t.Fatal("the topology could not be written")
	}
	l := p.s.lostBefore()
	if got := inShort(l.compare(changedTo(without(network(cable("a", "b")...), "c")), nil)); got != "" {
		t.Errorf("%q", got)
	}
}

// A node that comes back without a link that it had has lost it, whether the link or the node went first.
func TestLinksOfLostNodes(t *testing.T) {
	bc := cable("b", "c")
	with, alone := unlisted(network(bc...)), unlisted(network())
	gone := unlisted(without(network(), "c"))
	const link, node = "link-lost sw-b port 1 – sw-c port 1", "node-lost sw-c"
	for name, steps := range map[string][]struct {
		now  topology.Topology
		want string
	}{
		"the node first":     {{with, ""}, {gone, node}, {alone, link}, {with, ""}},
		"the link first":     {{with, ""}, {alone, link}, {gone, node}, {alone, link}, {with, ""}},
		"it comes back":      {{with, ""}, {gone, node}, {with, ""}, {alone, link}},
		"it comes back late": {{with, ""}, {gone, node}, {gone, node}, {alone, link}},
	} {
		l := newLosses(time.Hour, time.Now, nil)
		for i, step := range steps {
			if got := inShort(l.compare(changedTo(step.now), nil)); got != step.want {
				t.Errorf("%s, %d: %q, want %q", name, i, got, step.want)
			}
		}
	}
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	l := newLosses(time.Hour, func() time.Time { return now }, nil)
	l.compare(changedTo(with), nil)
	l.compare(changedTo(gone), nil)
	now = now.Add(2 * time.Hour)
	l.compare(changedTo(gone), nil)
	if got := inShort(l.compare(changedTo(alone), nil)); got != "" {
		t.Errorf("the node comes back after the time for which it is listed: %q", got)
	}
}

// A topology whose version is as before has lost nothing; one of another source is compared.
func TestLossesOfWhatHasChanged(t *testing.T) {
	l := newLosses(time.Hour, time.Now, nil)
	first := changedTo(network(cable("a", "b")...))
	l.compare(first, nil)
	then := viewOf(network())
	then.Versions = first.Versions
	if got := inShort(l.compare(then, nil)); got != "" {
		t.Errorf("%q", got)
	}
	then.Sources["net:1"] = "another"
	if got := inShort(l.compare(then, nil)); !strings.HasPrefix(got, "link-lost") {
		t.Errorf("of another source: %q", got)
	}
}

// Of very many lost links the newest are listed, and the list says so, also of the next holder of the role.
func TestManyLosses(t *testing.T) {
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	full, empty := network(), network()
	for i := range 5000 {
		at := fmt.Sprint(i)
		full.Links[at] = topology.Link{ID: at, SourceNode: "a", SourceTP: at, DestNode: "b", DestTP: at}
	}
	l := newLosses(time.Hour, func() time.Time { return now }, nil)
	l.compare(changedTo(full), nil)
	l.compare(changedTo(empty), nil)
	for _, link := range cable("b", "c") {
		full.Links[link.ID] = link
		empty.Links[link.ID] = link
	}
	now = now.Add(time.Minute)
	l.compare(changedTo(full), nil)
	l.compare(changedTo(empty), nil)
	now = now.Add(time.Minute)
	all := l.compare(changedTo(network()), nil)
	next := newLosses(time.Hour, func() time.Time { return now }, all)
	for _, list := range [][]troubles.Trouble{all, next.compare(changedTo(network()), nil)} {
		got := inShort(list)
		if len(list) != maxLost+1 || list[maxLost].Kind != kindMore || !strings.Contains(got, "sw-c port 1") {
			t.Fatalf("%d: %.2000s", len(list), got)
		}
	}
	now = now.Add(2 * time.Hour)
	if got := inShort(l.compare(changedTo(network()), nil)); got != "" {
		t.Errorf("after their time: %.2000s", got)
	}
}

// Who may not read a node, a port or a direction of a lost link does not see that it is lost: these are in the tree.
func TestWhatALostLinkConcerns(t *testing.T) {
	store := storetest.New(storetest.Options{})
	p := publisherOn(t, store)
	if again := p.publishView(t.Context(), viewOf(network(cable("a", "b")...))); again != nil {
		t.Fatal("the topology could not be written")
	}
	all := p.s.lostBefore().compare(changedTo(network()), nil)
	if len(all) != 1 || len(all[0].Concerns) != 6 {
		t.Fatalf("%+v", all)
	}
	_, err := store.Local(func(sn datastore.Snapshot) error {
		for _, path := range all[0].Concerns {
			if _, err := sn.Get(tree.OperationalNamespace, path); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A source that runs and sees nothing is a trouble.
func TestSilentSource(t *testing.T) {
	l := newLosses(time.Hour, time.Now, nil)
	seen := map[string]topomirror.Seen{"net:1": {Source: "switch", State: "silent"}}
	if got := inShort(l.compare(viewOf(network()), seen)); got != "source-silent topology net:1" {
		t.Errorf("%q", got)
	}
}
