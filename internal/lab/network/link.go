package network

import (
	"fmt"
	"slices"
)

// End is one end of a link.
type End struct {
	Switch string
	Port   int
}

// LinkState is a link and whether it is up: not cut, and both ports admin up.
type LinkState struct {
	A, B End
	Up   bool
}

// cable is a link.
type cable struct {
	a, b         *Node
	aPort, bPort int
	cut          bool
	live         bool // as the switches know it
	blocked      bool // by the spanning tree
}

// wireCables gives links the first free ports, and hosts the last ones.
func (n *Network) wireCables(p plan) error {
	used := make([]int, len(n.nodes))
	for _, pr := range p.links {
		used[pr.a]++
		used[pr.b]++
		l := &cable{
			a:     n.nodes[pr.a],
			b:     n.nodes[pr.b],
			aPort: used[pr.a],
			bPort: used[pr.b],
		}
		if max(l.aPort, l.bPort) > n.opts.Ports {
			return fmt.Errorf(
				"topology %s: a switch needs more than %d ports; ask for more ports",
				n.opts.Topology,
				n.opts.Ports,
			)
		}
		l.a.byPort[l.aPort], l.b.byPort[l.bPort] = l, l
		n.links = append(n.links, l)
	}
	for i, node := range n.nodes {
		for h := 0; h < n.opts.Hosts && n.opts.Ports-h > used[i]; h++ {
			port := n.opts.Ports - h
			node.Hosts = append(node.Hosts, Host{hostMAC(i, h), port})
			node.SetCarrier(port, true)
		}
		node.LearnSelf(1)
	}
	return nil
}

// Links returns the truth about all links.
func (n *Network) Links() []LinkState {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]LinkState, len(n.links))
	for i, l := range n.links {
		out[i] = LinkState{End{l.a.Name(), l.aPort}, End{l.b.Name(), l.bPort}, l.live}
	}
	return out
}

// SetLink cuts or mends every cable between two switches. What follows, traps
// included, has happened (informs: has been started) when it returns.
func (n *Network) SetLink(a, b string, up bool) error {
	first, err := n.Node(a)
	if err != nil {
		return err
	}
	second, err := n.Node(b)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	found := false
	for _, l := range first.byPort {
		if l.a == second || l.b == second {
			found, l.cut = true, !up
			n.refreshCable(l)
		}
	}
	if !found {
		return fmt.Errorf("there is no link between %s and %s", a, b)
	}
	n.converge()
	return nil
}

// portChanged follows a change of ifAdminStatus that came by SNMP.
func (n *Network) portChanged(node *Node, port int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := node.byPort[port]; l != nil {
		n.refreshCable(l)
	} else if slices.ContainsFunc(node.Hosts, func(h Host) bool {
		return h.Port == port
	}) {
		n.linkTrap(node, port, node.Up(port))
	}
	n.converge()
}

// refreshCable informs both ends whether the link lives, and traps when that is new.
func (n *Network) refreshCable(l *cable) {
	was := l.live
	n.updateCarrier(l)
	if l.live == was {
		return
	}
	n.linkTrap(l.a, l.aPort, l.live)
	n.linkTrap(l.b, l.bPort, l.live)
	n.neighborTrap(l.a)
	n.neighborTrap(l.b)
}

// updateCarrier brings both ends to the state of the link.
func (n *Network) updateCarrier(l *cable) {
	live := !l.cut && l.a.AdminUp(l.aPort) && l.b.AdminUp(l.bPort)
	if live == l.live {
		return
	}
	l.live = live
	l.a.SetCarrier(l.aPort, live)
	l.b.SetCarrier(l.bPort, live)
	if live {
		l.a.AddNeighbor(l.aPort, l.b.Advert(l.bPort))
		l.b.AddNeighbor(l.bPort, l.a.Advert(l.aPort))
	}
}
