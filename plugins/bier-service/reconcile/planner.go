package reconcile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// Planner computes what routers must hold for one network after another. Only routers that
// a change concerns are computed again; of the others the Desired is the same pointer.
type Planner struct {
	plans   []*plan // in the order of topology-ids
	desired map[string]*Desired
}

// plan is one topology with its deployed channels.
type plan struct {
	topology *bier.Topology
	channels map[string]*carried // by name
	round    int                 // of update
	nodes    map[string][]*part  // by node-id, in the order of compareParts
	members  map[memberKey]*bierdriver.Member
}

// carried is a deployed channel, with the last round of update that found it.
type carried struct {
	bier.Channel
	round int
}

// memberKey is an egress node in a sub-domain of a domain. Its message is the same for all channels.
type memberKey struct {
	node   string
	domain uint16
	sub    uint16
}

// part is what a channel comes to on one node. Nodes share the messages in it, so they
// are never changed.
type part struct {
	channel string
	key     string // bier.ChannelKey
	entry   *bierdriver.Channel
	members []*bierdriver.Member
	wire    []byte // entry as protobuf has it in a BierConfig
	problem string // why there is no entry
	sum     [sha256.Size]byte
}

// Wanted returns what each router must hold, by node-id, without those that must hold nothing, and
// the nodes of which it changed since the call before. The map is valid until the next call.
func (p *Planner) Wanted(n bier.Network) (desired map[string]*Desired, changed map[string]bool) {
	before := map[string]*plan{}
	for _, x := range p.plans {
		before[x.topology.ID] = x
	}
	changed = map[string]bool{} // by node-id; true: because of channels alone
	p.plans = p.plans[:0:0]
	for _, t := range n.Topologies {
		x := before[t.ID]
		delete(before, t.ID)
		if x == nil || x.topology != t {
			x.markAllNodes(changed)
			x = &plan{
				topology: t,
				channels: map[string]*carried{},
				nodes:    map[string][]*part{},
				members:  map[memberKey]*bierdriver.Member{},
			}
			x.markAllNodes(changed)
		}
		x.updateChannels(n.Channels[t.ID], changed)
		p.plans = append(p.plans, x)
	}
	for _, x := range before {
		x.markAllNodes(changed)
	}
	slices.SortFunc(p.plans, func(a, b *plan) int {
		return cmp.Compare(a.topology.ID, b.topology.ID)
	})
	if p.desired == nil {
		p.desired = map[string]*Desired{}
	}
	for node, channels := range changed {
		if d := p.desiredForNode(node); d != nil {
			d.changed = channels
			p.desired[node] = d
		} else {
			delete(p.desired, node)
		}
	}
	return p.desired, changed
}

// desiredForNode is what one router must hold, nil if nothing.
func (p *Planner) desiredForNode(id string) *Desired {
	var domains []*bier.NodeDomain
	var lists [][]*part
	n := 0
	for _, x := range p.plans {
		if n := x.topology.Node(id); n != nil {
			for i := range n.Params.Domains {
				domains = append(domains, &n.Params.Domains[i])
			}
		}
		if parts := x.nodes[id]; len(parts) > 0 {
			lists = append(lists, parts)
			n += len(parts)
		}
	}
	if len(domains)+len(lists) == 0 {
		return nil
	}
	d := &Desired{}
	d.make = func() {
		d.Config = &bierdriver.Config{}
		for _, nd := range domains {
			d.addDomain(nd)
		}
		sums := sha256.New()
		members := map[*bierdriver.Member]bool{}
		d.entries = make([]*part, 0, n)
		for _, parts := range lists {
			for _, part := range parts {
				d.addPart(part, members)
				sums.Write(part.sum[:])
			}
		}
		writeMessage(sums, d.Config.Global)
		d.finishEntries(len(lists) < 2)
		fmt.Fprint(sums, d.Problems)
		d.Hash = hex.EncodeToString(sums.Sum(nil)[:8])
	}
	return d
}

// markAllNodes marks every node of the plan: what concerns it is to be compared.
func (x *plan) markAllNodes(changed map[string]bool) {
	if x == nil {
		return
	}
	for i := range x.topology.Nodes {
		changed[x.topology.Nodes[i].ID] = false
	}
	for node := range x.nodes { // channels may name nodes that are gone
		changed[node] = false
	}
}

// updateChannels brings the plan to the channels of the topology and marks the nodes of those that
// changed.
func (x *plan) updateChannels(channels iter.Seq[bier.Channel], changed map[string]bool) {
	own := map[string]bool{}
	touch := func(node string) {
		if !own[node] { // a Desired that is not made yet has the list
			own[node] = true
			x.nodes[node] = slices.Clone(x.nodes[node])
		}
		if _, ok := changed[node]; !ok {
			changed[node] = true
		}
	}
	x.round++
	there := 0
	for c := range channels {
		if !c.Deployed() {
			continue
		}
		there++
		before := x.channels[c.Name]
		if before != nil {
			before.round = x.round
			if sameChannel(&before.Channel, &c) {
				continue
			}
		}
		parts, key := x.channelParts(&c), bier.ChannelKey(x.topology.ID, c.Name)
		for _, p := range parts {
			p.channel, p.key = c.Name, key
			p.setHash()
		}
		x.removeChannel(before, parts, touch)
		x.channels[c.Name] = &carried{c, x.round}
		for node, p := range parts {
			touch(node)
			i, _ := slices.BinarySearchFunc(x.nodes[node], p, compareParts)
			x.nodes[node] = slices.Insert(x.nodes[node], i, p)
		}
	}
	if there == len(x.channels) {
		return
	}
	for name, c := range x.channels {
		if c.round != x.round {
			x.removeChannel(c, nil, touch)
			delete(x.channels, name)
		}
	}
}

// removeChannel takes the parts of a channel from its nodes. Those that stay as they are go from stay instead.
func (x *plan) removeChannel(c *carried, stay map[string]*part, touch func(node string)) {
	if c == nil {
		return
	}
	done := map[string]bool{}
	for _, node := range c.Routers() {
		i := slices.IndexFunc(x.nodes[node], func(p *part) bool {
			return p.channel == c.Name
		})
		if i < 0 || done[node] {
			continue
		}
		done[node] = true
		p := stay[node]
		if p != nil && p.sum == x.nodes[node][i].sum {
			delete(stay, node)
			continue
		}
		touch(node)
		if x.nodes[node] = slices.Delete(x.nodes[node], i, i+1); len(x.nodes[node]) == 0 {
			delete(x.nodes, node)
		}
	}
}

// sameChannel reports whether routers hold the same for two channels of one name.
func sameChannel(c, o *bier.Channel) bool {
	return c.SrcIP == o.SrcIP && c.DstGroup == o.DstGroup && c.SourceWildcard == o.SourceWildcard && c.GroupWildcard == o.GroupWildcard &&
		c.DomainID == o.DomainID && c.SubDomainID == o.SubDomainID && c.IngressNode == o.IngressNode && sameEgress(c.EgressNodes, o.EgressNodes)
}

// sameEgress compares egress nodes. Those of a channel that was not written are the same slice.
func sameEgress(a, b []bier.EgressNode) bool {
	return len(a) == len(b) &&
		(len(a) == 0 || &a[0] == &b[0] || slices.EqualFunc(a, b, bier.EgressNode.Same))
}

// compareParts is the order of the entries of a router, then that of names; parts without
// an entry come first.
func compareParts(a, b *part) int {
	switch {
	case a.entry != nil && b.entry != nil:
		return cmp.Or(
			bierdriver.CompareChannels(a.entry, b.entry),
			cmp.Compare(a.channel, b.channel),
		)
	case a.entry != nil:
		return 1
	case b.entry != nil:
		return -1
	}
	return cmp.Compare(a.channel, b.channel)
}

// channelParts are what a deployed channel comes to at its ingress and egress nodes. A node that
// has lost its BFR-id or membership has no entry, and the entry of the ingress leaves it out.
func (x *plan) channelParts(c *bier.Channel) map[string]*part {
	t, out := x.topology, map[string]*part{}
	f, err := c.CheckFlow()
	if err != nil {
		out[c.IngressNode] = &part{problem: err.Error()}
		return out
	}
	id := func(node string) (uint16, *bier.NodeDomain) {
		d, s := t.Node(node).Member(c.DomainID, c.SubDomainID)
		if s == nil {
			return 0, nil
		}
		return bier.BFRID(d, s), d
	}
	entry := func(role bierdriver.Role, ingress uint16, egress ...uint32) *bierdriver.Channel {
		return &bierdriver.Channel{
			SourceAddress:  f.Source.String(),
			SourceWildcard: uint32(f.SourceWildcard),
			GroupAddress:   f.Group.String(),
			GroupWildcard:  uint32(f.GroupWildcard),
			SubDomain:      uint32(c.SubDomainID),
			IngressBfrId:   uint32(ingress),
			EgressBfrIds:   egress,
			Role:           role,
		}
	}
	in, _ := id(c.IngressNode)
	if in == 0 {
		out[c.IngressNode] = &part{problem: fmt.Sprintf(
			"the node has no bfr-id in sub-domain %d of domain %d",
			c.SubDomainID,
			c.DomainID,
		)}
		for _, e := range c.EgressNodes {
			out[e.ID] = &part{problem: fmt.Sprintf(
				"its ingress node %s has no bfr-id in sub-domain %d of domain %d",
				c.IngressNode,
				c.SubDomainID,
				c.DomainID,
			)}
		}
		return out
	}
	ingress := &part{entry: entry(bierdriver.Ingress, in)}
	for _, e := range c.EgressNodes {
		bfr, d := id(e.ID)
		if bfr == 0 {
			out[e.ID] = &part{problem: fmt.Sprintf(
				"the node has no bfr-id in sub-domain %d of domain %d",
				c.SubDomainID,
				c.DomainID,
			)}
			continue
		}
		ingress.entry.EgressBfrIds = append(ingress.entry.EgressBfrIds, uint32(bfr))
		key := memberKey{e.ID, c.DomainID, c.SubDomainID}
		m := x.members[key]
		if m == nil {
			m = &bierdriver.Member{
				SubDomainId:   uint32(c.SubDomainID),
				BfrId:         uint32(bfr),
				Ipv4BfrPrefix: d.Global.IPv4Prefix,
				Ipv6BfrPrefix: d.Global.IPv6Prefix,
			}
			x.members[key] = m
		}
		ingress.members = append(ingress.members, m)
		out[e.ID] = &part{entry: entry(bierdriver.Egress, in, uint32(bfr))}
		out[e.ID].entry.Ports = e.Ports()
	}
	slices.Sort(ingress.entry.EgressBfrIds)
	out[c.IngressNode] = ingress
	return out
}

// setHash sets wire and sum, which stays the same from one process to the next.
func (p *part) setHash() {
	h := sha256.New()
	if p.entry != nil {
		p.wire = encodeMessage(&bierdriver.Config{Channels: []*bierdriver.Channel{p.entry}})
		h.Write(p.wire)
	}
	for _, m := range p.members {
		writeMessage(h, m)
	}
	io.WriteString(h, p.problem)
	h.Sum(p.sum[:0])
}

func writeMessage(h hash.Hash, m proto.Message) {
	h.Write(encodeMessage(m))
}

func encodeMessage(m proto.Message) []byte {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err) // a message of these that does not encode is a fault of this program
	}
	return text
}
