package reconcile

import (
	"cmp"
	"fmt"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// Desired is what one router must hold.
type Desired struct {
	Config *bierdriver.Config
	// Problems are parts of the configuration that cannot be had on the router.
	Problems []string

	flows   map[bierdriver.ChannelKey]int // index of Config.Channels
	members map[[2]uint32]bool            // those in Config.Members
}

// Wanted returns what each router must hold, by node-id. Routers that must hold
// nothing are left out. It depends on nothing but n.
func Wanted(n bier.Network) map[string]*Desired {
	out := map[string]*Desired{}
	at := func(node string) *Desired {
		if out[node] == nil {
			out[node] = &Desired{Config: &bierdriver.Config{}}
		}
		return out[node]
	}
	topologies := slices.Clone(n.Topologies)
	slices.SortFunc(topologies, func(a, b bier.Topology) int { return cmp.Compare(a.ID, b.ID) })
	for i := range topologies {
		t := &topologies[i]
		for j := range t.Nodes {
			for k := range t.Nodes[j].Params.Domains {
				at(t.Nodes[j].ID).domain(&t.Nodes[j].Params.Domains[k])
			}
		}
		channels := slices.Clone(n.Channels[t.ID])
		slices.SortFunc(channels, func(a, b bier.Channel) int { return cmp.Compare(a.Name, b.Name) })
		for j := range channels {
			if c := &channels[j]; c.Deployed() {
				channel(t, c, at)
			}
		}
	}
	for _, d := range out {
		bierdriver.Canonical(d.Config)
		d.flows, d.members = nil, nil // of the order before
	}
	return out
}

// domain adds a node's part in a domain. A router knows one bier-global only: that
// of the first domain; sub-domains of further ones get their values spelled out.
func (d *Desired) domain(nd *bier.NodeDomain) {
	g := d.Config.Global
	first := g == nil
	if first {
		g = &bierdriver.Global{EncapsulationType: cmp.Or(bier.LocalName(nd.Global.Encapsulation), bier.LocalName(bier.EncapsulationMPLS)),
			Bitstringlength: uint32(nd.Global.BSL), BfrId: uint32(bier.BFRID(nd, nil)),
			Ipv4BfrPrefix: nd.Global.IPv4Prefix, Ipv6BfrPrefix: nd.Global.IPv6Prefix}
		d.Config.Global = g
	} else {
		d.agree(g, nd)
	}
	for i := range nd.Global.SubDomains {
		s := &nd.Global.SubDomains[i]
		if slices.ContainsFunc(g.SubDomains, func(o *bierdriver.SubDomain) bool { return o.SubDomainId == uint32(s.ID) }) {
			d.problem("sub-domain %d of domain %d is not on the router: another domain's sub-domain has its number", s.ID, nd.ID)
			continue
		}
		x := &bierdriver.SubDomain{SubDomainId: uint32(s.ID), IgpType: s.IGP, Ipv4: encapsulations(s.AF.IPv4), Ipv6: encapsulations(s.AF.IPv6)}
		if s.MT != nil {
			x.MtId = uint32(*s.MT)
		}
		if s.BFRID != nil {
			x.BfrId = uint32(*s.BFRID)
		}
		x.Bitstringlength = uint32(s.BSL)
		if !first {
			x.BfrId, x.Bitstringlength = uint32(bier.BFRID(nd, s)), uint32(bier.Imposition(nd, s))
		}
		g.SubDomains = append(g.SubDomains, x)
	}
}

// agree notes what of a further domain the router cannot hold.
func (d *Desired) agree(g *bierdriver.Global, nd *bier.NodeDomain) {
	if g.Ipv4BfrPrefix == "" {
		g.Ipv4BfrPrefix = nd.Global.IPv4Prefix
	}
	if g.Ipv6BfrPrefix == "" {
		g.Ipv6BfrPrefix = nd.Global.IPv6Prefix
	}
	if p := nd.Global.IPv4Prefix; p != "" && p != g.Ipv4BfrPrefix {
		d.problem("the BFR-prefix %s of domain %d is not on the router: it holds %s already", p, nd.ID, g.Ipv4BfrPrefix)
	}
	if p := nd.Global.IPv6Prefix; p != "" && p != g.Ipv6BfrPrefix {
		d.problem("the BFR-prefix %s of domain %d is not on the router: it holds %s already", p, nd.ID, g.Ipv6BfrPrefix)
	}
}

func (d *Desired) problem(format string, args ...any) {
	d.Problems = append(d.Problems, fmt.Sprintf(format, args...))
}

func encapsulations(in []bier.Encapsulation) []*bierdriver.Encapsulation {
	var out []*bierdriver.Encapsulation
	for _, e := range in {
		out = append(out, &bierdriver.Encapsulation{Bitstringlength: uint32(e.BSL), BierMplsLabelBase: e.Base, BierMplsLabelRangeSize: uint32(e.Size)})
	}
	return out
}

// channel adds the entries of a deployed channel to its ingress and egress nodes.
// A node that has lost its BFR-id or membership gets none, and the channel's other
// routers hold what is left.
func channel(t *bier.Topology, c *bier.Channel, at func(string) *Desired) {
	f, err := c.CheckFlow()
	if err != nil {
		at(c.IngressNode).problem("channel %s: %v", c.Name, err)
		return
	}
	id := func(node string) (uint16, *bier.NodeDomain) {
		d, s := t.Node(node).Member(c.DomainID, c.SubDomainID)
		if s == nil {
			return 0, nil
		}
		return bier.BFRID(d, s), d
	}
	entry := func(role bierdriver.Role, ingress uint16, egress ...uint32) *bierdriver.Channel {
		return &bierdriver.Channel{SourceAddress: f.Source.String(), SourceWildcard: uint32(f.SourceWildcard),
			GroupAddress: f.Group.String(), GroupWildcard: uint32(f.GroupWildcard), SubDomain: uint32(c.SubDomainID),
			IngressBfrId: uint32(ingress), EgressBfrIds: egress, Role: role}
	}
	in, _ := id(c.IngressNode)
	if in == 0 {
		at(c.IngressNode).problem("channel %s: the node has no bfr-id in sub-domain %d of domain %d", c.Name, c.SubDomainID, c.DomainID)
		for _, e := range c.EgressNodes {
			at(e.ID).problem("channel %s: its ingress node %s has no bfr-id in sub-domain %d of domain %d", c.Name, c.IngressNode, c.SubDomainID, c.DomainID)
		}
		return
	}
	all, ingress := entry(bierdriver.Ingress, in), at(c.IngressNode)
	for _, e := range c.EgressNodes {
		out, d := id(e.ID)
		if out == 0 {
			at(e.ID).problem("channel %s: the node has no bfr-id in sub-domain %d of domain %d", c.Name, c.SubDomainID, c.DomainID)
			continue
		}
		all.EgressBfrIds = append(all.EgressBfrIds, uint32(out))
		ingress.member(uint32(c.SubDomainID), uint32(out), d)
		at(e.ID).add(c, entry(bierdriver.Egress, in, uint32(out)))
	}
	ingress.add(c, all)
}

// member notes a router that a channel names.
func (d *Desired) member(sub, id uint32, nd *bier.NodeDomain) {
	key := [2]uint32{sub, id}
	if d.members[key] {
		return
	}
	if d.members == nil {
		d.members = map[[2]uint32]bool{}
	}
	d.members[key] = true
	d.Config.Members = append(d.Config.Members, &bierdriver.Member{SubDomainId: sub, BfrId: id, Ipv4BfrPrefix: nd.Global.IPv4Prefix, Ipv6BfrPrefix: nd.Global.IPv6Prefix})
}

// add puts an entry in. Of two channels with the same key on one router the ingress
// wins, then the first by name.
func (d *Desired) add(c *bier.Channel, e *bierdriver.Channel) {
	i, taken := d.flows[bierdriver.KeyOf(e)]
	switch {
	case !taken:
		if d.flows == nil {
			d.flows = map[bierdriver.ChannelKey]int{}
		}
		d.flows[bierdriver.KeyOf(e)] = len(d.Config.Channels)
		d.Config.Channels = append(d.Config.Channels, e)
		return
	case e.Role == bierdriver.Ingress && d.Config.Channels[i].Role != bierdriver.Ingress:
		d.Config.Channels[i] = e
	}
	d.problem("channel %s: another channel of the same flow is on the router", c.Name)
}
