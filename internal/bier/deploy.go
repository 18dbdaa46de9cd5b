package bier

import (
	"fmt"
	"slices"
	"strings"
)

// Plan is how a channel is forwarded.
type Plan struct {
	IngressID  uint16
	BSL        BSL         // of the ingress
	BitStrings []BitString // that leave the ingress; egress nodes with an error are not in them
	Egress     []Way       // in the order of the channel
}

// Way is how packets come to an egress node.
type Way struct {
	Node string
	ID   uint16   // BFR-id
	Path []string // node-ids from the ingress, both ends included
	Err  error    // why none come there
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
// one of them does not hide the others.
func PlanChannel(t *Topology, c *Channel) (*Plan, error) {
	if d := t.Domain(c.DomainID); !d.Has(c.SubDomainID) {
		return nil, fmt.Errorf("topology %s has no sub-domain %d of domain %d", t.ID, c.SubDomainID, c.DomainID)
	}
	g := t.Graph(c.DomainID, c.SubDomainID)
	in, ok := g.Member(c.IngressNode)
	switch {
	case !ok:
		return nil, fmt.Errorf("the ingress node %s is not in sub-domain %d of domain %d", c.IngressNode, c.SubDomainID, c.DomainID)
	case in.ID == 0:
		return nil, fmt.Errorf("the ingress node %s has no bfr-id", c.IngressNode)
	case Imposition(in.domain, in.sub) == 0:
		return nil, fmt.Errorf("the ingress node %s has no bitstringlength", c.IngressNode)
	case len(c.EgressNodes) == 0:
		return nil, fmt.Errorf("there is no egress node")
	}
	out := &Plan{IngressID: in.ID, BSL: Imposition(in.domain, in.sub)}
	tree := g.Tree(c.IngressNode)
	var ids []uint16
	for i, e := range c.EgressNodes {
		w := Way{Node: e.ID}
		if slices.Contains(c.EgressNodes[:i], e) {
			w.Err = fmt.Errorf("the egress node %s is there twice", e.ID)
		} else if w.Err = w.find(g, tree, c, out.BSL); w.Err == nil {
			ids = append(ids, w.ID)
		}
		out.Egress = append(out.Egress, w)
	}
	out.BitStrings = BitStrings(out.BSL, ids)
	return out, nil
}

// find finds the way to an egress node.
func (w *Way) find(g *Graph, tree *Tree, c *Channel, b BSL) error {
	m, ok := g.Member(w.Node)
	switch {
	case w.Node == c.IngressNode:
		return fmt.Errorf("node %s is ingress and egress", w.Node)
	case !ok:
		return fmt.Errorf("the egress node %s is not in sub-domain %d of domain %d", w.Node, c.SubDomainID, c.DomainID)
	case m.ID == 0:
		return fmt.Errorf("the egress node %s has no bfr-id", w.Node)
	}
	if w.Path = tree.Path(w.Node); w.Path == nil {
		return fmt.Errorf("the egress node %s cannot be reached from %s over links of sub-domain %d of domain %d",
			w.Node, c.IngressNode, c.SubDomainID, c.DomainID)
	}
	w.ID = m.ID
	for _, hop := range w.Path[1:] {
		h, _ := g.Member(hop)
		if takes := Disposition(h.domain, h.sub); !slices.Contains(takes, b) {
			return fmt.Errorf("node %s, on the way to %s (%s), takes bit strings of %v only; the ingress %s makes %d",
				hop, w.Node, strings.Join(w.Path, " "), takes, c.IngressNode, b)
		}
	}
	return nil
}

// SameFlow returns the name of another deployed channel that has the flow of c at
// the same ingress, "" if none.
func SameFlow(c *Channel, others []Channel) (string, error) {
	mine, err := c.CheckFlow()
	if err != nil {
		return "", err
	}
	for i := range others {
		o := &others[i]
		if o.Name == c.Name || !o.Deployed() || o.IngressNode != c.IngressNode {
			continue
		}
		if f, err := o.CheckFlow(); err == nil && f == mine {
			return o.Name, nil
		}
	}
	return "", nil
}
