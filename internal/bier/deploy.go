package bier

import (
	"fmt"
	"iter"
	"slices"
)

// Plan is how a channel is forwarded.
type Plan struct {
	IngressID  uint16
	BSL        BSL         // of the ingress
	BitStrings []BitString // that leave the ingress; egress nodes with an error are not in them
	Egress     []Way       // in the order of the channel

	ways *ways // to the egress nodes without an error
}

// Need is an ability that a router must have for a channel.
type Need struct {
	Node, Ability string
	For           string // what it is needed for, in words
}

// Lacking says in words that the router's model lacks the ability.
func (n Need) Lacking() string {
	return fmt.Sprintf(
		"router %s cannot do what is needed (%s, %s) %s",
		n.Node,
		n.Ability,
		abilities[n.Ability],
		n.For,
	)
}

var abilities = map[string]string{
	Tunnel:  "RFC 8279 section 6.9",
	Transit: "a BFR without BFR-id",
	ECMP:    "RFC 8279 section 6.7",
}

// Abilities that not every model of router has and that ways ask for; drivers name "forwarding" and "ping" too.
const (
	// Tunnel: packets reach the next BFR over nodes that are not BFRs (RFC 8279 section 6.9).
	Tunnel = "tunnel"
	// Transit: BIER works on a router without a BFR-id.
	Transit = "transit"
	// ECMP: all neighbours of equal ways are used (RFC 8279 section 6.7). Without it a router
	// uses one of them.
	ECMP = "ecmp"
)

// Way is how packets come to an egress node.
type Way struct {
	Node string
	ID   uint16   // BFR-id
	Path []string // node-ids from the ingress, both ends included; with equal ways it is one of them
	Err  error    // why none come there
	// Needs are abilities that routers on the ways must have besides plain forwarding.
	Needs []Need
}

// Err is the error of the first egress node that has one.
func (p *Plan) Err() error {
	for _, w := range p.Egress {
		if w.Err != nil {
			return w.Err
		}
	}
	return nil
}

// PlanChannel returns how a channel with an ingress and egress nodes is forwarded in a
// topology. The error is of the ingress; those of egress nodes are in the plan, so that
// one of them does not hide the others. Callers share the plan and must not change it.
func PlanChannel(t *Topology, c *Channel) (*Plan, error) {
	if d := t.Domain(c.DomainID); !d.Has(c.SubDomainID) {
		return nil, fmt.Errorf(
			"topology %s has no sub-domain %d of domain %d",
			t.ID,
			c.SubDomainID,
			c.DomainID,
		)
	}
	g := t.Graph(c.DomainID, c.SubDomainID)
	return g.plans.once(c, func() (*Plan, error) { return g.plan(c) })
}

// plan computes PlanChannel.
func (g *Graph) plan(c *Channel) (*Plan, error) {
	in, ok := g.Member(c.IngressNode)
	switch {
	case !ok:
		return nil, fmt.Errorf(
			"the ingress node %s is not in sub-domain %d of domain %d",
			c.IngressNode,
			c.SubDomainID,
			c.DomainID,
		)
	case in.ID == 0:
		return nil, fmt.Errorf("the ingress node %s has no bfr-id", c.IngressNode)
	case Imposition(in.domain, in.sub) == 0:
		return nil, fmt.Errorf("the ingress node %s has no bitstringlength", c.IngressNode)
	case len(c.EgressNodes) == 0:
		return nil, fmt.Errorf("there is no egress node")
	}
	out := &Plan{
		IngressID: in.ID,
		BSL:       Imposition(in.domain, in.sub),
	}
	tree := g.Tree(c.IngressNode, out.BSL)
	var ids []uint16
	var reached []string
	for i, e := range c.EgressNodes {
		w := Way{Node: e.ID}
		if slices.ContainsFunc(c.EgressNodes[:i], func(o EgressNode) bool {
			return o.ID == e.ID
		}) {
			w.Err = fmt.Errorf("the egress node %s occurs twice", e.ID)
		} else if w.Err = w.findWay(g, tree, c, out.BSL); w.Err == nil {
			ids = append(ids, w.ID)
			reached = append(reached, w.Node)
		}
		out.Egress = append(out.Egress, w)
	}
	out.BitStrings = BitStrings(out.BSL, ids)
	out.ways = newWays(tree, reached)
	for i := range out.Egress {
		if w := &out.Egress[i]; w.Err == nil {
			w.Needs = out.ways.wayNeeds(out.ways.nodeIndex(w.Node))
		}
	}
	return out, nil
}

// findWay finds the way to an egress node.
func (w *Way) findWay(g *Graph, tree *Tree, c *Channel, b BSL) error {
	m, ok := g.Member(w.Node)
	switch {
	case w.Node == c.IngressNode:
		return fmt.Errorf("node %s is ingress and egress", w.Node)
	case !ok:
		return fmt.Errorf(
			"the egress node %s is not in sub-domain %d of domain %d",
			w.Node,
			c.SubDomainID,
			c.DomainID,
		)
	case m.ID == 0:
		return fmt.Errorf("the egress node %s has no bfr-id", w.Node)
	}
	if w.Path = tree.Path(w.Node); w.Path == nil {
		return fmt.Errorf("the egress node %s cannot be reached from %s over links of sub-domain %d of domain %d",
			w.Node, c.IngressNode, c.SubDomainID, c.DomainID)
	}
	if takes := Disposition(m.domain, m.sub); !slices.Contains(takes, b) {
		return fmt.Errorf(
			"the egress node %s accepts only bit strings of %v; the ingress %s sends %d",
			w.Node,
			takes,
			c.IngressNode,
			b,
		)
	}
	w.ID = m.ID
	return nil
}

// Shares returns the names of other deployed channels at the same ingress: the one that has
// the flow of c, "" if none, and those whose flows overlap with it.
func Shares(c *Channel, others iter.Seq[Channel]) (same string, overlap []string, err error) {
	mine, err := c.CheckFlow()
	if err != nil {
		return "", nil, err
	}
	for o := range others {
		if o.Name == c.Name || !o.Deployed() || o.IngressNode != c.IngressNode {
			continue
		}
		switch f, err := o.CheckFlow(); {
		case err != nil:
		case f == mine:
			same = o.Name
		case f.Overlaps(mine):
			overlap = append(overlap, o.Name)
		}
	}
	slices.Sort(overlap)
	return same, overlap, nil
}
