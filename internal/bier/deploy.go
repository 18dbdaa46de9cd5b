package bier

import (
	"fmt"
	"slices"
	"strings"
)

// Plan is what deploying a channel comes to.
type Plan struct {
	IngressID  uint16
	EgressIDs  []uint16 // of the channel's egress nodes, in their order
	BSL        BSL      // of the ingress
	BitStrings []BitString
	Paths      [][]string // node-ids from the ingress to each egress, in their order
}

// PlanChannel checks that a channel with an ingress and egress nodes can be
// forwarded in a topology and returns how. The error is a Problem.
func PlanChannel(t *Topology, c *Channel) (*Plan, error) {
	p := &problems{where: "channel " + c.Name}
	if d := t.Domain(c.DomainID); !d.Has(c.SubDomainID) {
		p.err("topology %s has no sub-domain %d of domain %d", t.ID, c.SubDomainID, c.DomainID)
		return nil, FirstError(p.list)
	}
	g := t.Graph(c.DomainID, c.SubDomainID)
	in, ok := g.Member(c.IngressNode)
	switch {
	case !ok:
		p.err("the ingress node %s is not in sub-domain %d of domain %d", c.IngressNode, c.SubDomainID, c.DomainID)
	case in.ID == 0:
		p.err("the ingress node %s has no bfr-id", c.IngressNode)
	case Imposition(in.domain, in.sub) == 0:
		p.err("the ingress node %s has no bitstringlength", c.IngressNode)
	}
	if len(c.EgressNodes) == 0 {
		p.err("there is no egress node")
	}
	if err := FirstError(p.list); err != nil {
		return nil, err
	}
	out := &Plan{IngressID: in.ID, BSL: Imposition(in.domain, in.sub)}
	tree := g.Tree(c.IngressNode)
	seen := map[string]bool{}
	for _, e := range c.EgressNodes {
		out.egress(p, g, tree, c, e.ID, seen)
		seen[e.ID] = true
	}
	out.BitStrings = BitStrings(out.BSL, out.EgressIDs)
	return out, FirstError(p.list)
}

// egress plans the way to one egress node.
func (x *Plan) egress(p *problems, g *Graph, tree *Tree, c *Channel, node string, seen map[string]bool) {
	m, ok := g.Member(node)
	way := []string(nil)
	switch {
	case node == c.IngressNode:
		p.err("node %s is ingress and egress", node)
	case seen[node]:
		p.err("the egress node %s is there twice", node)
	case !ok:
		p.err("the egress node %s is not in sub-domain %d of domain %d", node, c.SubDomainID, c.DomainID)
	case m.ID == 0:
		p.err("the egress node %s has no bfr-id", node)
	default:
		if way = tree.Path(node); way == nil {
			p.err("the egress node %s cannot be reached from %s over links of sub-domain %d of domain %d", node, c.IngressNode, c.SubDomainID, c.DomainID)
		}
	}
	for _, hop := range way[min(1, len(way)):] {
		h, _ := g.Member(hop)
		if takes := Disposition(h.domain, h.sub); !slices.Contains(takes, x.BSL) {
			p.err("node %s, on the way to %s (%s), takes bit strings of %v only; the ingress %s makes %d",
				hop, node, strings.Join(way, " "), takes, c.IngressNode, x.BSL)
		}
	}
	x.EgressIDs = append(x.EgressIDs, m.ID)
	x.Paths = append(x.Paths, way)
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

// Uses says why a channel needs a node's part in a sub-domain, "" when it does not.
// Node "" asks for any node of the sub-domain; sub < 0 for any sub-domain.
func (c *Channel) Uses(node string, domain uint16, sub int) string {
	if !c.Deployed() || c.DomainID != domain || sub >= 0 && int(c.SubDomainID) != sub {
		return ""
	}
	role := ""
	switch {
	case node == "":
		return fmt.Sprintf("channel %s is deployed in sub-domain %d of domain %d", c.Name, c.SubDomainID, c.DomainID)
	case node == c.IngressNode:
		role = "ingress"
	case slices.Contains(c.EgressNodes, EgressNode{node}):
		role = "egress"
	default:
		return ""
	}
	return fmt.Sprintf("node %s is %s of the deployed channel %s", node, role, c.Name)
}
