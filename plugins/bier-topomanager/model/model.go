// Package model is the rules of BIER topologies: what a call changes, and what is not
// allowed. It has no I/O; the topologies it is given are never changed.
package model

import (
	"cmp"
	"fmt"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
)

// Change is what a call does to a topology.
type Change struct {
	Nodes    []bier.Node   // written
	Domains  []bier.Domain // written
	Gone     []uint16      // domains that are deleted
	Warnings []Problem
}

// Found returns an error of kind NotFound when there is no such topology.
func Found(t *bier.Topology, id string) error {
	switch {
	case id == "":
		return fault.At(
			fault.Missing,
			"/bier-topology-api:input/topology-id",
			"topology-id is missing",
		)
	case t == nil:
		return fault.At(
			fault.NotFound,
			"/bier-topology-api:input/topology-id",
			"there is no topology %q; load-topology lists those there are",
			id,
		)
	}
	return nil
}

// findChannelUse says which deployed channel needs part of a topology, "" = none. Node "" is any
// node, sub < 0 any sub-domain.
func findChannelUse(channels []bier.Channel, node string, domain uint16, sub int) string {
	for i := range channels {
		if why := describeChannelUse(&channels[i], node, domain, sub); why != "" {
			return why
		}
	}
	return ""
}

// describeChannelUse says why a channel needs a node's part in a sub-domain, "" when it does not.
func describeChannelUse(c *bier.Channel, node string, domain uint16, sub int) string {
	if !c.Deployed() || c.DomainID != domain || sub >= 0 && int(c.SubDomainID) != sub {
		return ""
	}
	role := ""
	switch {
	case node == "":
		return fmt.Sprintf(
			"channel %s is deployed in sub-domain %d of domain %d",
			c.Name,
			c.SubDomainID,
			c.DomainID,
		)
	case node == c.IngressNode:
		role = "ingress"
	case c.FindEgress(node) != nil:
		role = "egress"
	default:
		return ""
	}
	return fmt.Sprintf("node %s is %s of the deployed channel %s", node, role, c.Name)
}

// Check says what is wrong with a change of a topology from before to after, either of
// which may be nil: what breaks a rule that was not broken before, and what takes away
// from deployed channels.
func Check(before, after *bier.Topology, channels []bier.Channel) error {
	broken := map[string]bool{}
	for _, p := range Problems(before) {
		broken[p.Error()] = true
	}
	var l fault.List
	for _, p := range Problems(after) {
		if !p.Warning && !broken[p.Error()] {
			l = append(l, fault.New(fault.Invalid, "%s", p))
		}
	}
	if before != nil {
		l = append(l, listChannelLosses(before, after, channels)...)
	}
	return l.Err()
}

// listChannelLosses says which deployed channels would lose something they had.
func listChannelLosses(before, after *bier.Topology, channels []bier.Channel) (l fault.List) {
	if after == nil {
		after = &bier.Topology{}
	}
	for i := range channels {
		c := &channels[i]
		if !c.Deployed() {
			continue
		}
		if before.Domain(c.DomainID).Has(c.SubDomainID) &&
			!after.Domain(c.DomainID).Has(c.SubDomainID) {
			l = append(
				l,
				fault.New(
					fault.InUse,
					"%s",
					describeChannelUse(c, "", c.DomainID, int(c.SubDomainID)),
				),
			)
			continue
		}
		for _, node := range c.Routers() {
			_, was := before.Node(node).Member(c.DomainID, c.SubDomainID)
			_, is := after.Node(node).Member(c.DomainID, c.SubDomainID)
			if was != nil && is == nil {
				l = append(
					l,
					fault.New(
						fault.InUse,
						"%s",
						describeChannelUse(c, node, c.DomainID, int(c.SubDomainID)),
					),
				)
			}
		}
	}
	return l
}

// copyDomain returns a copy of a domain that may be changed.
func copyDomain(t *bier.Topology, id *uint16) (bier.Domain, error) {
	if id == nil {
		return bier.Domain{}, fmt.Errorf("domain-id is missing")
	}
	d := t.Domain(*id)
	if d == nil {
		return bier.Domain{}, fmt.Errorf("there is no domain %d in topology %s", *id, t.ID)
	}
	return bier.Domain{
		ID:         d.ID,
		SubDomains: slices.Clone(d.SubDomains),
	}, nil
}

func sortRefs(s []bier.SubDomainRef) {
	slices.SortFunc(s, func(a, b bier.SubDomainRef) int {
		return cmp.Compare(a.ID, b.ID)
	})
}
