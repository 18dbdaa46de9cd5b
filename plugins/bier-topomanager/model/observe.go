package model

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/topology"
)

// Seen is what a source's view changes in a topology.
type Seen struct {
	PutNodes []bier.Node // with what is configured of them
	DelNodes []string
	PutLinks []bier.Link
	DelLinks []string
}

// Kept is what other sources may still see, by ids here: it does not go.
type Kept struct {
	All          bool
	Nodes, Links []string
}

// Observe compares a topology, nil when it is new, or a part of it with what its sources have
// of that part. What they do not have goes, unless it is configured or kept.
func Observe(t *bier.Topology, seen topology.Topology, kept Kept) Seen {
	var out Seen
	if t == nil {
		t = &bier.Topology{}
	}
	online, links := map[string]bool{}, map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(seen.Nodes)) {
		n := nodeFromTopology(seen.Nodes[key])
		online[n.ID] = true
		old := t.Node(n.ID)
		merged := Take(old, n)
		if old == nil || !reflect.DeepEqual(*old, merged) {
			out.PutNodes = append(out.PutNodes, merged)
		}
	}
	known := map[string]bier.Link{}
	for _, l := range t.Links {
		known[l.ID] = l
	}
	for _, key := range slices.Sorted(maps.Keys(seen.Links)) {
		l := linkFromTopology(seen.Links[key])
		links[l.ID] = true
		if old, ok := known[l.ID]; !ok || old != l {
			out.PutLinks = append(out.PutLinks, l)
		}
	}
	if kept.All {
		return out
	}
	for _, id := range kept.Nodes {
		online[id] = true
	}
	for _, id := range kept.Links {
		links[id] = true
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !online[n.ID] && len(n.Params.Domains) == 0 {
			out.DelNodes = append(out.DelNodes, n.ID)
		}
	}
	for _, l := range t.Links {
		if !links[l.ID] {
			out.DelLinks = append(out.DelLinks, l.ID)
		}
	}
	return out
}

// Take returns a node as a source sees it with what is configured of it; old may be nil.
func Take(old *bier.Node, n bier.Node) bier.Node {
	if old != nil {
		n.Params, n.Latitude, n.Longitude = old.Params, cmp.Or(n.Latitude, old.Latitude), cmp.Or(n.Longitude, old.Longitude)
	}
	return n
}

func nodeFromTopology(n topology.Node) bier.Node {
	out := bier.Node{
		ID:        bier.ShortID(n.ID),
		Name:      bier.ShortID(cmp.Or(n.Attributes["name"], n.ID)),
		RouterID:  bier.ShortID(cmp.Or(n.Attributes["router-id"], n.ID)),
		Latitude:  parseNumber(n.Attributes["latitude"]),
		Longitude: parseNumber(n.Attributes["longitude"]),
	}
	for _, key := range slices.Sorted(maps.Keys(n.TPs)) {
		tp := n.TPs[key]
		id := bier.ShortID(tp.ID)
		// The number of an OpenFlow port ends its id: "1:2" is port 2 of switch 1.
		index := cmp.Or(tp.Attributes["index"], id[strings.LastIndexByte(id, ':')+1:])
		out.TPs = append(
			out.TPs,
			bier.TerminationPoint{
				ID:     id,
				IfName: tp.Attributes["name"],
				Index:  uint32(min(parseNumber(index), math.MaxUint32)),
			},
		)
	}
	return out
}

func linkFromTopology(l topology.Link) bier.Link {
	return bier.Link{
		ID: bier.ShortID(l.ID),
		Source: bier.LinkFrom{
			Node: bier.ShortID(l.SourceNode),
			TP:   bier.ShortID(l.SourceTP),
		},
		Dest: bier.LinkTo{
			Node: bier.ShortID(l.DestNode),
			TP:   bier.ShortID(l.DestTP),
		},
		Delay:  parseNumber(l.Attributes["delay"]),
		Loss:   parseNumber(l.Attributes["loss"]),
		Metric: parseNumber(l.Attributes["metric"]),
	}
}

// parseNumber reads an attribute; what is not a number counts as 0.
func parseNumber(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
