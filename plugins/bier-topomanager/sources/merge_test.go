package sources

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ctl.internal/sdk/topology"
)

// seen is a snapshot of a topology with some nodes.
func seen(id string, nodes ...string) topology.Change {
	c := topology.Change{TopologyID: id, Snapshot: true}
	for _, n := range nodes {
		c.PutNodes = append(c.PutNodes, topology.Node{ID: n, Attributes: map[string]string{"name": id + "/" + n}})
	}
	return c
}

// nodes are those of a topology as the sources see it, with who sees it.
func nodes(m *Merge, id string, earlier ...string) string {
	t, sources, whole := m.View(id, earlier)
	if t == nil {
		return fmt.Sprint("none ", whole)
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(t.Nodes)), sources, whole)
}

func TestSeveralSourcesOfOneTopology(t *testing.T) {
	m := NewMerge(map[string]string{"flow:1": "lab"}, []string{"secret"}, nil)
	m.Change("b", seen("lab", "r2", "r3"))
	m.Change("a", seen("flow:1", "r1", "r2"))
	m.Change("a", seen("secret", "r9"))
	if ids := m.Take(); fmt.Sprint(ids) != "[lab]" {
		t.Errorf("changed are %v", ids)
	}
	if got := nodes(m, "lab"); got != "[r1 r2 r3] [a b] true" {
		t.Error(got)
	}
	if v, _, _ := m.View("lab", nil); v.Nodes["r2"].Attributes["name"] != "flow:1/r2" {
		t.Errorf("of two sources the first by name must decide, not %v", v.Nodes["r2"])
	}
	m.Drop("a")
	if got := nodes(m, "lab"); got != "[r2 r3] [b] true" {
		t.Errorf("a source that is gone: %s", got)
	}
	m.Change("b", topology.Change{TopologyID: "lab", Removed: true})
	if got := nodes(m, "lab"); got != "none true" {
		t.Errorf("nobody sees it: %s", got)
	}
}

// After a restart a source that was not heard yet still counts: what it saw must not go.
func TestSourcesThatWereNotHeardYet(t *testing.T) {
	m := NewMerge(nil, nil, []string{"lab"})
	m.Change("a", seen("lab", "r1"))
	if got := nodes(m, "lab", "a", "b"); got != "[r1] [a] false" {
		t.Error(got)
	}
	m.Keep("a", map[string]bool{"lab": true})
	if got := nodes(m, "lab", "a", "b"); got != "[r1] [a] false" {
		t.Errorf("b was not heard: %s", got)
	}
	m.Take()
	m.Drop("b")
	if got := nodes(m, "lab", "a", "b"); got != "[r1] [a] true" || fmt.Sprint(m.Take()) != "[lab]" {
		t.Errorf("b is not installed any more: %s", got)
	}
}

// What a source does not name in its first snapshot is gone.
func TestSourceThatComesBackWithLess(t *testing.T) {
	m := NewMerge(nil, nil, nil)
	m.Change("a", seen("x", "r1"))
	m.Change("a", seen("y"))
	m.Take()
	m.Change("a", seen("y"))
	m.Keep("a", map[string]bool{"y": true})
	if got := nodes(m, "x"); got != "none true" || fmt.Sprint(m.Take()) != "[x y]" {
		t.Error(got)
	}
}
