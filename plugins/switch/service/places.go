package service

import (
	"cmp"
	"slices"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
)

// places says where stations are: what of the places at which an address was learned is its own, and what is the way
// there.
type places struct {
	obs    map[mib.MAC]*discovery.Observation
	peers  map[discovery.End]mib.MAC // switches at the other end of a link, by port
	links  map[mib.MAC][]mib.MAC     // between switches
	owners map[mib.MAC]mib.MAC       // addresses of switches
	// trunks are ports of which the forwarding table said that they lead on (leadingOn).
	trunks map[mib.MAC][]uint32
}

// crowd is how many addresses there may be at a port to which stations are attached; with more it leads on, to a switch
// that is not listed.
const crowd = 64

// newPlaces makes it of a network; n may be nil.
func newPlaces(
	n *discovery.Network,
	obs map[mib.MAC]*discovery.Observation,
	trunks map[mib.MAC][]uint32,
) *places {
	p := &places{
		obs:    obs,
		peers:  map[discovery.End]mib.MAC{},
		links:  map[mib.MAC][]mib.MAC{},
		owners: map[mib.MAC]mib.MAC{},
		trunks: trunks,
	}
	for m, o := range obs {
		own := []mib.MAC{m, o.Bridge, mib.MACOf(o.Chassis.ID)}
		if o.Evidence != nil {
			own = append(own, o.Evidence.Self...)
		}
		for _, a := range own {
			if a.Unicast() {
				p.owners[a] = m
			}
		}
	}
	if n == nil {
		return p
	}
	ids := map[string]mib.MAC{}
	for _, node := range n.Nodes {
		if node.Kind == discovery.SNMP {
			ids[node.ID] = node.MAC
		}
	}
	for _, e := range n.Edges {
		tail, head := ids[e.Tail.Node], ids[e.Head.Node]
		if tail == 0 || head == 0 {
			continue
		}
		p.links[head] = append(p.links[head], tail)
		for _, port := range append([]string{e.Head.Port}, e.HeadMembers...) {
			p.peers[discovery.End{
				Node: e.Head.Node,
				Port: port,
				Kind: discovery.SNMP,
			}] = tail
		}
	}
	return p
}

// peerOf is the switch at the other end of a port, or of one of its members if it is an aggregate; 0: none is known.
func (p *places) peerOf(m mib.MAC, port *discovery.Port) mib.MAC {
	node := discovery.NodeID(m)
	at := func(id string) mib.MAC {
		return p.peers[discovery.End{
			Node: node,
			Port: id,
			Kind: discovery.SNMP,
		}]
	}
	if peer := at(port.ID); peer != 0 {
		return peer
	}
	for i := range p.obs[m].Ports {
		member := &p.obs[m].Ports[i]
		if member.Aggregate != 0 && member.Aggregate == port.IfIndex {
			if peer := at(member.ID); peer != 0 {
				return peer
			}
		}
	}
	return 0
}

// leadsOn reports whether another switch is behind a port.
func (p *places) leadsOn(m mib.MAC, number uint32) bool {
	o := p.obs[m]
	if o == nil {
		return false
	}
	if slices.Contains(p.trunks[m], number) {
		return true
	}
	for i := range o.Ports {
		port := &o.Ports[i]
		if port.Number != number {
			continue
		}
		if p.peerOf(m, port) != 0 {
			return true
		}
		if o.Evidence != nil &&
			slices.ContainsFunc(o.Evidence.Seen[port.ID], func(a mib.MAC) bool {
				return p.isOtherSwitch(m, a)
			}) {
			return true
		}
	}
	return false
}

// isOtherSwitch reports whether an address is that of another switch of the list.
func (p *places) isOtherSwitch(m, a mib.MAC) bool {
	owner := p.owners[a]
	return owner != 0 && owner != m
}

// portCount is what a forwarding table has at a port.
type portCount struct {
	addresses int
	leads     bool // an address of another switch
}

// leadingOn are the ports that lead on by a forwarding table: another switch was learned there, or very many addresses.
func leadingOn(counts map[uint32]portCount) (out []uint32) {
	for port, c := range counts {
		if c.leads || c.addresses > crowd {
			out = append(out, port)
		}
	}
	slices.Sort(out)
	return out
}

// learnedAt is a place at which an address was learned.
type learnedAt struct {
	sw   mib.MAC
	port uint32
}

// orderPlaces puts the places at which an address was learned in order: where it is, then the way there from near to far. It
// reports whether the first one is its place, and does not only lead there.
func (p *places) orderPlaces(list []learnedAt) (own bool) {
	rank := make(map[learnedAt][2]int, len(list))
	for _, at := range list {
		var r [2]int
		if p.leadsOn(at.sw, at.port) {
			r[0] = 1
		}
		behind := p.switchesBehind(at)
		for _, other := range list {
			if other.sw != at.sw && behind[other.sw] {
				r[1]++ // that one is nearer
			}
		}
		rank[at] = r
	}
	slices.SortFunc(list, func(a, b learnedAt) int {
		return cmp.Or(
			cmp.Compare(rank[a][0], rank[b][0]),
			cmp.Compare(rank[a][1], rank[b][1]),
			cmp.Compare(a.sw, b.sw),
			cmp.Compare(a.port, b.port),
		)
	})
	if len(list) == 0 {
		return false
	}
	far := p.distancesFrom(list[0].sw)
	slices.SortStableFunc(list[1:], func(a, b learnedAt) int {
		return cmp.Compare(far(a.sw), far(b.sw))
	})
	return rank[list[0]][0] == 0
}

// switchesBehind are the switches behind a port of another, by a link or by the forwarding table.
func (p *places) switchesBehind(at learnedAt) map[mib.MAC]bool {
	out := map[mib.MAC]bool{}
	o := p.obs[at.sw]
	if o == nil {
		return out
	}
	for i := range o.Ports {
		port := &o.Ports[i]
		if port.Number != at.port {
			continue
		}
		out[p.peerOf(at.sw, port)] = true
		if o.Evidence != nil {
			for _, a := range o.Evidence.Seen[port.ID] {
				out[p.owners[a]] = true
			}
		}
	}
	return out
}

// distancesFrom says how many links away from a switch others are.
func (p *places) distancesFrom(from mib.MAC) func(mib.MAC) int {
	far := map[mib.MAC]int{from: 0}
	for todo := []mib.MAC{from}; len(todo) > 0; todo = todo[1:] {
		for _, next := range p.links[todo[0]] {
			if _, known := far[next]; !known {
				far[next] = far[todo[0]] + 1
				todo = append(todo, next)
			}
		}
	}
	return func(m mib.MAC) int {
		if d, known := far[m]; known {
			return d
		}
		return len(p.obs) + 1
	}
}
