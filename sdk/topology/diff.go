package topology

import (
	"maps"
	"slices"
	"strings"
)

// Diff returns the change that leads from one view of a topology to another, and
// whether there is one. Observation times alone are no change.
func Diff(from, to Topology) (Change, bool) {
	c := Change{TopologyID: to.ID, Observed: to.Observed}
	for id, n := range to.Nodes {
		old, ok := from.Nodes[id]
		if !ok || !sameNode(old, n) {
			c.PutNodes = append(c.PutNodes, n)
		}
	}
	for id := range from.Nodes {
		if _, ok := to.Nodes[id]; !ok {
			c.RemovedNodes = append(c.RemovedNodes, id)
		}
	}
	for id, l := range to.Links {
		old, ok := from.Links[id]
		if !ok || !sameLink(old, l) {
			c.PutLinks = append(c.PutLinks, l)
		}
	}
	for id := range from.Links {
		if _, ok := to.Links[id]; !ok {
			c.RemovedLinks = append(c.RemovedLinks, id)
		}
	}
	slices.SortFunc(c.PutNodes, func(a, b Node) int {
		return strings.Compare(a.ID, b.ID)
	})
	slices.SortFunc(c.PutLinks, func(a, b Link) int {
		return strings.Compare(a.ID, b.ID)
	})
	slices.Sort(c.RemovedNodes)
	slices.Sort(c.RemovedLinks)
	return c, len(c.PutNodes)+len(c.RemovedNodes)+len(c.PutLinks)+len(c.RemovedLinks) > 0
}

// Apply returns the view that results from a change; t itself is left as it is.
func (t Topology) Apply(c Change) Topology {
	out := Topology{
		ID:       c.TopologyID,
		Observed: c.Observed,
		Nodes:    map[string]Node{},
		Links:    map[string]Link{},
	}
	if !c.Snapshot {
		maps.Copy(out.Nodes, t.Nodes)
		maps.Copy(out.Links, t.Links)
	}
	for _, id := range c.RemovedLinks {
		delete(out.Links, id)
	}
	for _, id := range c.RemovedNodes {
		delete(out.Nodes, id)
	}
	for _, n := range c.PutNodes {
		out.Nodes[n.ID] = n
	}
	for _, l := range c.PutLinks {
		out.Links[l.ID] = l
	}
	return out
}

func sameNode(a, b Node) bool {
	return maps.Equal(a.Attributes, b.Attributes) && maps.EqualFunc(a.TPs, b.TPs, func(x, y TerminationPoint) bool {
		return x.ID == y.ID && maps.Equal(x.Attributes, y.Attributes)
	})
}

func sameLink(a, b Link) bool {
	return a.SourceNode == b.SourceNode && a.SourceTP == b.SourceTP && a.DestNode == b.DestNode &&
		a.DestTP == b.DestTP && maps.Equal(a.Attributes, b.Attributes)
}

func newSnapshotChange(t Topology) Change {
	c, _ := Diff(Topology{}, t)
	c.TopologyID, c.Snapshot, c.Observed = t.ID, true, t.Observed
	return c
}
