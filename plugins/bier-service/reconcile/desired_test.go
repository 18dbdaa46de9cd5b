package reconcile

import (
	"fmt"
	"iter"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
)

func new16(v uint16) *uint16 { return &v }

// network is n routers in sub-domain 1 of domain 1 with BFR-ids 1..n shuffled and labels
// for two lengths.
func network(n int, seed int64) *bier.Topology {
	ids := rand.New(rand.NewSource(seed)).Perm(n)
	t := &bier.Topology{ID: "flow:1", Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}, {ID: 1}}}}}
	for i := range n {
		t.Nodes = append(t.Nodes, bier.Node{ID: fmt.Sprintf("n%05d", i), Params: bier.NodeParams{Domains: []bier.NodeDomain{{ID: 1, Global: bier.Global{
			Encapsulation: bier.EncapsulationMPLS, BSL: 256, BFRID: new16(uint16(ids[i] + 1)), IPv4Prefix: fmt.Sprintf("10.0.%d.1/32", i),
			SubDomains: []bier.SubDomain{{ID: 1, IGP: "ISIS", MT: new16(0), AF: bier.AF{IPv4: []bier.Encapsulation{
				{BSL: 64, Base: 1000, Size: 200}, {BSL: 256, Base: 2000, Size: 200}}}}},
		}}}}})
	}
	return t
}

// channels are some deployed ones of a network.
func channels(t *bier.Topology, r *rand.Rand, n int) []bier.Channel {
	var out []bier.Channel
	for i := range n {
		perm := r.Perm(len(t.Nodes))
		c := bier.Channel{Name: fmt.Sprint("c", i), SrcIP: fmt.Sprint("10.0.0.", i+1), DstGroup: "232.0.0.1", DomainID: 1, SubDomainID: 1,
			SourceWildcard: 32, GroupWildcard: 32, IngressNode: t.Nodes[perm[0]].ID}
		for _, p := range perm[1 : 2+r.Intn(len(perm)-1)] {
			c.EgressNodes = append(c.EgressNodes, bier.EgressNode{ID: t.Nodes[p].ID})
		}
		out = append(out, c)
	}
	return out
}

func TestEachRouterHoldsItsPartOfAChannel(t *testing.T) {
	top := network(5, 1)
	c := bier.Channel{Name: "c", SrcIP: "0.0.0.0", DstGroup: "232.0.0.1", DomainID: 1, SubDomainID: 1, SourceWildcard: 32, GroupWildcard: 32,
		IngressNode: "n00001", EgressNodes: []bier.EgressNode{{ID: "n00003"}, {ID: "n00004"}}}
	d := wanted(bier.Network{Topologies: []*bier.Topology{top}, Channels: map[string]iter.Seq[bier.Channel]{"flow:1": slices.Values([]bier.Channel{c})}})
	id := func(node string) uint32 {
		x, s := top.Node(node).Member(1, 1)
		return uint32(bier.BFRID(x, s))
	}
	for node, want := range map[string][]uint32{"n00000": nil, "n00001": {id("n00003"), id("n00004")}, "n00002": nil, "n00003": {id("n00003")}, "n00004": {id("n00004")}} {
		slices.Sort(want)
		got := d[node].Config.Channels
		if want == nil {
			if len(got) != 0 {
				t.Errorf("node %s, which is only on the way, holds %v", node, got)
			}
			continue
		}
		if len(got) != 1 || !slices.Equal(got[0].EgressBfrIds, want) || got[0].IngressBfrId != id("n00001") {
			t.Errorf("node %s holds %v, want egress %v", node, got, want)
		}
	}
}

// Without its ingress a channel is nowhere, and each of its routers has the reason.
func TestChannelThatLostItsIngress(t *testing.T) {
	top := network(3, 1)
	c := bier.Channel{Name: "c", SrcIP: "0.0.0.0", DstGroup: "232.0.0.1", DomainID: 1, SubDomainID: 1, SourceWildcard: 32, GroupWildcard: 32,
		IngressNode: "n00001", EgressNodes: []bier.EgressNode{{ID: "n00002"}}}
	top.Node("n00001").Params.Domains = nil
	d := wanted(bier.Network{Topologies: []*bier.Topology{top}, Channels: map[string]iter.Seq[bier.Channel]{"flow:1": slices.Values([]bier.Channel{c})}})
	for _, node := range []string{"n00001", "n00002"} {
		if d[node] == nil || len(d[node].Problems) != 1 || len(d[node].Config.Channels) != 0 {
			t.Errorf("node %s: %+v", node, d[node])
		}
	}
}

// A router knows no domains: what of a second one it cannot hold is reported.
func TestTwoDomainsOnOneRouter(t *testing.T) {
	one := bier.NodeDomain{ID: 1, Global: bier.Global{BSL: 256, BFRID: new16(1), IPv4Prefix: "10.0.0.1/32", SubDomains: []bier.SubDomain{{ID: 0, IGP: "ISIS"}}}}
	two := bier.NodeDomain{ID: 2, Global: bier.Global{BSL: 64, BFRID: new16(9), IPv4Prefix: "10.0.0.2/32", SubDomains: []bier.SubDomain{{ID: 0, IGP: "ISIS"}, {ID: 5, IGP: "OSPF"}}}}
	top := bier.Topology{ID: "x", Nodes: []bier.Node{{ID: "r", Params: bier.NodeParams{Domains: []bier.NodeDomain{one, two}}}}}
	d := wanted(bier.Network{Topologies: []*bier.Topology{&top}, Channels: map[string]iter.Seq[bier.Channel]{top.ID: slices.Values([]bier.Channel(nil))}})["r"]
	g := d.Config.Global
	if g.BfrId != 1 || len(g.SubDomains) != 2 || g.SubDomains[1].BfrId != 9 || g.SubDomains[1].Bitstringlength != 64 {
		t.Errorf("the router holds %v", g)
	}
	if all := strings.Join(d.Problems, "; "); !strings.Contains(all, "sub-domain 0 of domain 2") || !strings.Contains(all, "10.0.0.2/32") {
		t.Errorf("problems: %s", all)
	}
}

// wanted returns what each router must hold, by node-id. Routers that must hold
// nothing are left out. It depends on nothing but n.
func wanted(n bier.Network) map[string]*Desired {
	all, _ := new(Planner).Wanted(n)
	for _, d := range all {
		d.Made()
	}
	return all
}
