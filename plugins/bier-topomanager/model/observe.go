package model

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/topology"
)

// Observe takes in what a source sees. Nodes that are gone stay with their
// configuration, offline; those that nobody configured go. Links are what the
// source has.
func (m *Model) Observe(id string, seen topology.Topology) *Change {
	c := &Change{Topology: id, Online: map[string]bool{}}
	t := m.topologies[id]
	if t == nil {
		t = &Topology{}
		c.Domains = map[uint16][]bier.SubDomainRef{}
	}
	for _, key := range slices.Sorted(maps.Keys(seen.Nodes)) {
		n := node(seen.Nodes[key])
		c.Online[n.ID] = true
		old := t.Nodes[n.ID]
		if old != nil {
			n.Params, n.Latitude, n.Longitude = old.Params, cmp.Or(n.Latitude, old.Latitude), cmp.Or(n.Longitude, old.Longitude)
		}
		if old == nil || !reflect.DeepEqual(old, n) {
			c.PutNodes = append(c.PutNodes, n)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Nodes)) {
		if !c.Online[key] && len(t.Nodes[key].Params.Domains) == 0 {
			c.DelNodes = append(c.DelNodes, key)
		}
	}
	links := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(seen.Links)) {
		l := link(seen.Links[key])
		links[l.ID] = true
		switch old := t.Links[l.ID]; {
		case old == nil:
			c.PutLinks = append(c.PutLinks, l)
		case *old != *l:
			c.PutLinks = append(c.PutLinks, l)
			c.ChangedLink = append(c.ChangedLink, LinkChange{old, l})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Links)) {
		if !links[key] {
			c.DelLinks = append(c.DelLinks, key)
		}
	}
	if maps.Equal(c.Online, t.Online) {
		c.Online = nil
	}
	return c
}

// Unobserved is the change when no source has a topology any more: what is
// configured stays.
func (m *Model) Unobserved(id string) *Change {
	t := m.topologies[id]
	if t == nil {
		return nil
	}
	if len(t.Domains) > 0 {
		return m.Observe(id, topology.Topology{})
	}
	return &Change{Topology: id, Gone: true}
}

// short takes the prefix off ids of OpenFlow: "openflow:1:2" is "1:2".
func short(id string) string { return strings.TrimPrefix(id, "openflow:") }

func node(n topology.Node) *bier.Node {
	out := &bier.Node{ID: short(n.ID), Name: short(cmp.Or(n.Attributes["name"], n.ID)), RouterID: short(cmp.Or(n.Attributes["router-id"], n.ID)),
		Latitude: number(n.Attributes["latitude"]), Longitude: number(n.Attributes["longitude"])}
	for _, tp := range slices.Sorted(maps.Keys(n.TPs)) {
		out.TPs = append(out.TPs, bier.TerminationPoint{ID: short(n.TPs[tp].ID)})
	}
	return out
}

func link(l topology.Link) *bier.Link {
	return &bier.Link{ID: short(l.ID), Source: bier.LinkFrom{Node: short(l.SourceNode), TP: short(l.SourceTP)},
		Dest: bier.LinkTo{Node: short(l.DestNode), TP: short(l.DestTP)}, Delay: number(l.Attributes["delay"]),
		Loss: number(l.Attributes["loss"]), Metric: number(l.Attributes["metric"])}
}

// number reads an attribute; what is none counts as 0.
func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
