package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/switchdriver"
)

// The kinds of mismatches.
const (
	oneEnd  = "one-end" // only one end of a link has the VLAN
	tagging = "tagging" // one end has it tagged, the other untagged
	naming  = "name"    // switches call the VLAN differently
)

// mismatch is a VLAN that does not fit together. The first end has the VLAN; of kind tagging, it has it tagged.
type mismatch struct {
	VLAN     uint32   `json:"vlan-id"`
	Kind     string   `json:"kind"`
	Node     string   `json:"node-id,omitempty"`
	Switch   string   `json:"switch,omitempty"`
	Port     string   `json:"port,omitempty"`
	PeerNode string   `json:"peer-node-id,omitempty"`
	Peer     string   `json:"peer,omitempty"`
	PeerPort string   `json:"peer-port,omitempty"`
	Names    []string `json:"vlan-name,omitempty"`
	Text     string   `json:"text"`

	link *bridgeLink // nil of kind name
}

// linkEnd is an end of a link: the numbers of its port and, of a link aggregation, of the members.
type linkEnd struct {
	node    mib.MAC
	name    string
	port    string // as it is shown
	id      string // of its termination point
	numbers []uint32
}

// bridgeLink is a link between two switches of the list.
type bridgeLink struct{ a, b linkEnd }

// carried says how an end of a link has a VLAN.
type carried struct{ tagged, untagged bool }

func (c carried) any() bool { return c.tagged || c.untagged }

// carriedAt finds how the ports of an end have a VLAN: a switch lists the aggregate, its members, or both.
func carriedAt(v *switchdriver.VLAN, numbers []uint32) (c carried) {
	if v == nil {
		return c
	}
	for _, n := range numbers {
		switch {
		case slices.Contains(v.UntaggedPorts, n):
			c.untagged = true
		case slices.Contains(v.EgressPorts, n):
			c.tagged = true
		}
	}
	return c
}

// findMismatches compares the ends of the links, and the names, of all VLANs. Links to switches whose VLANs are not
// known are left out.
func findMismatches(links []bridgeLink, vlans map[mib.MAC][]*switchdriver.VLAN) []mismatch {
	byID := map[uint32]map[mib.MAC]*switchdriver.VLAN{}
	for node, list := range vlans {
		for _, v := range list {
			if byID[v.VlanId] == nil {
				byID[v.VlanId] = map[mib.MAC]*switchdriver.VLAN{}
			}
			byID[v.VlanId][node] = v
		}
	}
	var out []mismatch
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if names := namesOfVLAN(byID[id]); len(names) > 1 {
			out = append(out, mismatch{
				VLAN:  id,
				Kind:  naming,
				Names: names,
				Text:  "has several names: " + strings.Join(names, ", "),
			})
		}
		for i, l := range links {
			_, knownA := vlans[l.a.node]
			_, knownB := vlans[l.b.node]
			if !knownA || !knownB {
				continue
			}
			atA := carriedAt(byID[id][l.a.node], l.a.numbers)
			atB := carriedAt(byID[id][l.b.node], l.b.numbers)
			m := compareEnds(l, atA, atB)
			if m != nil {
				m.VLAN, m.link = id, &links[i]
				out = append(out, *m)
			}
		}
	}
	return out
}

// carriedLink is a link of which both ends have a VLAN.
type carriedLink struct {
	Node     string `json:"node-id"`
	Port     string `json:"port"`
	PeerNode string `json:"peer-node-id"`
	PeerPort string `json:"peer-port"`
}

// findCarriedLinks returns the links of which both ends have the VLAN: at most one VLAN is read of each switch.
func findCarriedLinks(
	links []bridgeLink,
	vlans map[mib.MAC][]*switchdriver.VLAN,
) (out []carriedLink) {
	for _, l := range links {
		if hasVLAN(vlans[l.a.node], l.a.numbers) && hasVLAN(vlans[l.b.node], l.b.numbers) {
			out = append(out, carriedLink{
				Node:     discovery.NodeID(l.a.node),
				Port:     l.a.port,
				PeerNode: discovery.NodeID(l.b.node),
				PeerPort: l.b.port,
			})
		}
	}
	return out
}

// hasVLAN reports whether one of the VLANs is at one of the ports.
func hasVLAN(list []*switchdriver.VLAN, numbers []uint32) bool {
	return slices.ContainsFunc(list, func(v *switchdriver.VLAN) bool {
		return carriedAt(v, numbers).any()
	})
}

// namesOfVLAN are the different names of a VLAN; one that has no name on a switch is not called differently there.
func namesOfVLAN(on map[mib.MAC]*switchdriver.VLAN) (names []string) {
	for _, v := range on {
		if v.Name != "" && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}

// compareEnds returns what does not match at the ends of a link; nil if all does.
func compareEnds(l bridgeLink, a, b carried) *mismatch {
	switch {
	case a.any() != b.any():
		has, lacks := l.a, l.b
		if b.any() {
			has, lacks = l.b, l.a
		}
		return betweenEnds(
			oneEnd,
			has,
			lacks,
			fmt.Sprintf("%s has it, %s has not", has.formatTable(), lacks.formatTable()),
		)
	case a.tagged && b.untagged && !b.tagged:
		return betweenEnds(
			tagging,
			l.a,
			l.b,
			fmt.Sprintf("tagged at %s, untagged at %s", l.a.formatTable(), l.b.formatTable()),
		)
	case b.tagged && a.untagged && !a.tagged:
		return betweenEnds(
			tagging,
			l.b,
			l.a,
			fmt.Sprintf("tagged at %s, untagged at %s", l.b.formatTable(), l.a.formatTable()),
		)
	}
	return nil
}

func (e linkEnd) formatTable() string {
	return e.name + " port " + e.port
}

func betweenEnds(kind string, first, second linkEnd, text string) *mismatch {
	return &mismatch{
		Kind:     kind,
		Node:     discovery.NodeID(first.node),
		Switch:   first.name,
		Port:     first.port,
		PeerNode: discovery.NodeID(second.node),
		Peer:     second.name,
		PeerPort: second.port,
		Text:     text,
	}
}

// bridgeLinks are the links between switches of the list of which both ends are known, each once.
func (s *Service) bridgeLinks() (out []bridgeLink) {
	n := s.survey.Network()
	if n == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, e := range n.Edges {
		a, okA := s.linkEndOf(e.Head, e.HeadMembers)
		b, okB := s.linkEndOf(e.Tail, e.TailMembers)
		if !okA || !okB {
			continue
		}
		if cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.port, b.port)) > 0 {
			a, b = b, a
		}
		key := fmt.Sprint(a.node, "|", a.port, "|", b.node, "|", b.port)
		if !seen[key] {
			seen[key] = true
			out = append(out, bridgeLink{a, b})
		}
	}
	slices.SortFunc(out, func(x, y bridgeLink) int {
		return cmp.Or(
			strings.Compare(x.a.name, y.a.name),
			strings.Compare(x.a.port, y.a.port),
			strings.Compare(x.b.name, y.b.name),
		)
	})
	return out
}

// linkEndOf finds the ports of an end of an edge in what its switch reported. It fails for devices outside the list,
// and for ports that have no number of the bridge, so that their VLANs are not known.
func (s *Service) linkEndOf(e discovery.End, members []string) (linkEnd, bool) {
	id, err := strconv.ParseUint(e.Node, 10, 48)
	if e.Kind != discovery.SNMP || err != nil {
		return linkEnd{}, false
	}
	o := s.survey.Observation(mib.MAC(id))
	if o == nil {
		return linkEnd{}, false
	}
	end := linkEnd{
		node: mib.MAC(id),
		name: s.nameOf(mib.MAC(id)),
		port: formatPort(s.portOf(e), s.portsOf(e.Node, members)),
		id:   e.Port,
	}
	bridged := slices.ContainsFunc(o.Ports, func(p discovery.Port) bool {
		return p.Bridged
	})
	for _, p := range o.Ports {
		if (p.ID == e.Port || slices.Contains(members, p.ID)) && (p.Bridged || !bridged) {
			end.numbers = append(end.numbers, p.Number)
		}
	}
	return end, len(end.numbers) > 0
}

type mismatchLines struct {
	Entries []mismatch `json:"entry"`
	Partial []string   `json:"partial,omitempty"`
}

// vlanMismatches answers which VLANs do not fit together, by what all switches report now.
func (s *Service) vlanMismatches(ctx context.Context, in vlanIDIn) (*mismatchLines, error) {
	all, err := s.vlanLines(ctx, vlanIDIn{VLAN: in.VLAN})
	if err != nil {
		return nil, err
	}
	return &mismatchLines{append([]mismatch{}, all.Mismatches...), all.Partial}, nil
}

func (o *mismatchLines) formatTable() string {
	t := commands.Table{
		Empty: "The VLANs of both ends of all links match.",
		Columns: []commands.Column{
			{Title: "VLAN", Right: true},
			{Title: "Kind"},
			{Title: "Switch", Max: 32},
			{Title: "Port"},
			{Title: "Peer", Max: 32},
			{Title: "Peer port"},
			{Title: "What", Max: 80},
		},
	}
	for _, m := range o.Entries {
		t.Add(m.VLAN, m.Kind, m.Switch, m.Port, m.Peer, m.PeerPort, m.Text)
	}
	return t.String() + cutNote(o.Partial)
}
