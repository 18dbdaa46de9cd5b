package network

import (
	"slices"

	"ctl.internal/internal/lab/simswitch"
)

// Stations are known this many switches away; farther ones would only fill
// memory in great networks.
const (
	reachSmall = 64
	reachGreat = 3
	greatSize  = 100
)

// converge does what a real network does after a change: the spanning tree
// is computed, learned addresses are forgotten and learned again.
func (n *Network) converge() {
	n.computeSpanningTree()
	for _, node := range n.nodes {
		node.Flush()
	}
	reach := reachSmall
	if len(n.nodes) > greatSize {
		reach = reachGreat
	}
	for _, node := range n.nodes {
		for _, h := range node.Hosts {
			vlan := node.PVID(h.Port)
			if node.Learn(vlan, h.MAC, h.Port) {
				floodFrame(node, nil, vlan, h, reach)
			}
		}
	}
	if n.opts.FDB > 0 {
		n.nodes[0].Fill(n.opts.FDB)
	}
	if slices.Contains(n.opts.Discovery, simswitch.Mute) {
		for _, node := range n.nodes {
			floodFrame(node, nil, 1, Host{MAC: node.MAC()}, reach)
		}
	}
	for _, l := range n.links {
		if l.live && l.a.Address().Masked() == l.b.Address().Masked() {
			l.a.LearnARP(l.b.Address().Addr(), l.b.MAC())
			l.b.LearnARP(l.a.Address().Addr(), l.a.MAC())
		}
	}
}

// Relearn lets the stations send again, after VLANs were changed.
func (n *Network) Relearn() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.converge()
}

// floodFrame floods a frame of a station over the spanning tree.
func floodFrame(node *Node, from *cable, vlan int, h Host, reach int) {
	if reach == 0 {
		return
	}
	for port, l := range node.byPort {
		if l == from || !l.live || l.blocked || !node.Forwards(port, vlan) {
			continue
		}
		other, at := l.farEnd(node)
		if other.Forwards(at, vlan) && other.Learn(vlan, h.MAC, at) {
			floodFrame(other, l, vlan, h, reach-1)
		}
	}
}
