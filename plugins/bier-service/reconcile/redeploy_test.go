package reconcile

import (
	"iter"
	"slices"
	"testing"

	"ctl.internal/internal/bier"
)

// A channel with one more egress node concerns that node and its ingress, and no other router.
func TestOneMoreEgressNodeConcernsTwoRouters(t *testing.T) {
	top := network(9, 1)
	last := top.Nodes[8].ID
	c := bier.Channel{Name: "c", SrcIP: "10.0.0.1", DstGroup: "232.1.1.1", SourceWildcard: 32, GroupWildcard: 32, DomainID: 1, SubDomainID: 1, IngressNode: top.Nodes[0].ID}
	for _, n := range top.Nodes[1:8] {
		c.EgressNodes = append(c.EgressNodes, bier.EgressNode{ID: n.ID})
	}
	var p Planner
	before := map[string]*Desired{}
	wanted := func(c bier.Channel) map[string]*Desired {
		desired, _ := p.Wanted(bier.Network{Topologies: []*bier.Topology{top}, Channels: map[string]iter.Seq[bier.Channel]{top.ID: slices.Values([]bier.Channel{c})}})
		return desired
	}
	for node, d := range wanted(c) {
		before[node] = d
	}
	more := c
	more.EgressNodes = append([]bier.EgressNode{{ID: last}}, c.EgressNodes...)
	for node, d := range wanted(more) {
		if concerned := node == c.IngressNode || node == last; (d != before[node]) != concerned {
			t.Errorf("%s is computed again: %v, concerned: %v", node, d != before[node], concerned)
		}
	}
}
