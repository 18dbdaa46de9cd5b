package bier

import (
	"iter"
	"slices"
	"strings"
)

// How a channel uses a port.
const (
	UseSource   = "source"   // its source is there
	UseReceiver = "receiver" // receivers are there
	UseLink     = "link"     // its packets pass the link there
)

// PortUse is a deployed channel that uses a port.
type PortUse struct {
	Channel string
	Ingress string
	Use     string
	Egress  []string // egress nodes whose packets may pass the port
	CutOff  []string // those of them that no packets come to without the port
}

// UsesOfPort lists the uses that channels of a topology make of a port, in the order of the channels' names. A link is
// used if it is on one of the ways of the least distance, which routers may all choose.
func UsesOfPort(t *Topology, channels []Channel, node, port string) (out []PortUse) {
	p := newPort(t, node, port)
	for i := range channels {
		c := &channels[i]
		if !c.Deployed() {
			continue
		}
		out = append(out, p.hosts(c)...)
		if use := p.passes(c); use != nil {
			out = append(out, *use)
		}
	}
	slices.SortStableFunc(out, func(a, b PortUse) int {
		return strings.Compare(a.Channel, b.Channel)
	})
	return out
}

// port is a port of a topology.
type port struct {
	node, name string
	links      []Link // that begin or end there
	topology   *Topology
	without    *Topology // the topology without these links
}

func newPort(t *Topology, node, name string) *port {
	p := &port{node: node, name: name, topology: t}
	rest := &Topology{
		ID:      t.ID,
		Nodes:   t.Nodes,
		Domains: t.Domains,
		graphs:  &graphs{all: map[[2]uint16]*Graph{}},
	}
	for _, l := range t.Links {
		if p.is(l.Source.Node, l.Source.TP) || p.is(l.Dest.Node, l.Dest.TP) {
			p.links = append(p.links, l)
		} else {
			rest.Links = append(rest.Links, l)
		}
	}
	p.without = rest
	return p
}

// is reports whether a port of a node is this one.
func (p *port) is(node, name string) bool {
	return node == p.node && name != "" && ShortID(name) == ShortID(p.name)
}

// hosts are the uses of the port by the source and the receivers of a channel.
func (p *port) hosts(c *Channel) (out []PortUse) {
	if p.is(c.IngressNode, c.SrcTP) {
		all := make([]string, 0, len(c.EgressNodes))
		for _, e := range c.EgressNodes {
			all = append(all, e.ID)
		}
		out = append(
			out,
			PortUse{
				Channel: c.Name,
				Ingress: c.IngressNode,
				Use:     UseSource,
				Egress:  all,
				CutOff:  all,
			},
		)
	}
	e := c.FindEgress(p.node)
	if e == nil {
		return out
	}
	if slices.ContainsFunc(e.Receivers, func(r Receiver) bool {
		return p.is(e.ID, r.TP)
	}) {
		use := PortUse{
			Channel: c.Name,
			Ingress: c.IngressNode,
			Use:     UseReceiver,
			Egress:  []string{e.ID},
		}
		if len(e.Receivers) == 1 {
			use.CutOff = use.Egress
		}
		out = append(out, use)
	}
	return out
}

// passes is the use of the links at the port by the packets of a channel, nil if there is none.
func (p *port) passes(c *Channel) *PortUse {
	if len(p.links) == 0 {
		return nil
	}
	plan, err := PlanChannel(p.topology, c)
	if err != nil {
		return nil
	}
	use := &PortUse{
		Channel: c.Name,
		Ingress: c.IngressNode,
		Use:     UseLink,
	}
	for i := range plan.Egress {
		w := &plan.Egress[i]
		if w.Err == nil &&
			slices.ContainsFunc(p.links, func(l Link) bool {
				return p.onWay(plan.ways, l, w.Node)
			}) {
			use.Egress = append(use.Egress, w.Node)
		}
	}
	if len(use.Egress) == 0 {
		return nil
	}
	rest, err := PlanChannel(p.without, c)
	for i := range plan.Egress {
		w := &plan.Egress[i]
		if slices.Contains(use.Egress, w.Node) && (err != nil || rest.Egress[i].Err != nil) {
			use.CutOff = append(use.CutOff, w.Node)
		}
	}
	return use
}

// onWay reports whether a link is on a way to an egress node: its nodes follow each other there, and no link between
// them is shorter.
func (p *port) onWay(w *ways, l Link, egress string) bool {
	from, to := w.nodeIndex(l.Source.Node), w.nodeIndex(l.Dest.Node)
	if from < 0 || to < 0 {
		return false
	}
	on := w.markWayVertices(w.nodeIndex(egress))
	if !on[from] || !on[to] || !slices.Contains(w.before[to], from) {
		return false
	}
	return !slices.ContainsFunc(p.topology.Links, func(o Link) bool {
		return o.Source.Node == l.Source.Node &&
			o.Dest.Node == l.Dest.Node &&
			max(o.Metric, 1) < max(l.Metric, 1)
	})
}

// HasPort reports whether a topology has a port, in its nodes, at the ends of its links, or named by a channel.
func HasPort(t *Topology, channels iter.Seq[Channel], node, name string) bool {
	p := &port{node: node, name: name}
	n := t.Node(node)
	if n == nil {
		return false
	}
	if slices.ContainsFunc(n.TPs, func(x TerminationPoint) bool {
		return p.is(node, x.ID)
	}) {
		return true
	}
	for i := range t.Links {
		l := &t.Links[i]
		if p.is(l.Source.Node, l.Source.TP) || p.is(l.Dest.Node, l.Dest.TP) {
			return true
		}
	}
	for c := range channels {
		if len(p.hosts(&c)) > 0 {
			return true
		}
	}
	return false
}

// TargetBitStrings returns the bit strings that reach some egress nodes of a plan, which are all if none is named, and
// the first of the names that is no egress node to which packets come.
func (p *Plan) TargetBitStrings(nodes []string) (out []BitString, unknown string) {
	if len(nodes) == 0 {
		return p.BitStrings, ""
	}
	var ids []uint16
	for _, node := range nodes {
		i := slices.IndexFunc(p.Egress, func(w Way) bool {
			return w.Node == node && w.Err == nil
		})
		if i < 0 {
			return nil, node
		}
		ids = append(ids, p.Egress[i].ID)
	}
	return BitStrings(p.BSL, ids), ""
}
