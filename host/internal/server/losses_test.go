package server

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/plugin/topomirror"
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
	connected := network(both...) // of a source that has no list: its nodes connect
	delete(connected.Nodes["c"].Attributes, "answering")
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
		l.compare(viewOf(c.first), nil)
		if got := inShort(l.compare(viewOf(c.then), nil)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		now = now.Add(25 * time.Hour)
		if got := inShort(l.compare(viewOf(c.then), nil)); strings.Contains(got, "lost") {
			t.Errorf("%s: it is still lost after its time: %s", c.name, got)
		}
	}
}

// A lost link is listed by the next holder of the role, too, until it comes back.
func TestLossesGoOn(t *testing.T) {
	links := cable("a", "b")
	now := func() time.Time { return time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC) }
	l := newLosses(time.Hour, now, nil)
	l.compare(viewOf(network(links...)), nil)
	lost := l.compare(viewOf(network()), nil)
	next := newLosses(time.Hour, now, lost)
	if got := inShort(next.compare(viewOf(network()), nil)); !strings.HasPrefix(got, "link-lost") {
		t.Errorf("the next holder: %q", got)
	}
	if got := inShort(next.compare(viewOf(network(links[1])), nil)); got != "" {
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
	if got := inShort(l.compare(viewOf(network()), nil)); !strings.Contains(got, "link-lost sw-") || len(got) != len(want) {
		t.Errorf("%q, want %q", got, want)
	}
	sources := p.s.storedSources()
	if len(sources) != 1 || sources[0].Name != "net:1" || sources[0].Plugin != "switch" || sources[0].State != "observing" {
		t.Errorf("sources: %v", sources)
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
