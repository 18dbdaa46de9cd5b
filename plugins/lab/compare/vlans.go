package compare

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"ctl.internal/plugins/lab/intent"
)

// Members are the ports of each VLAN of a device, by id of the VLAN.
type Members map[int][]string

// CompareVLANs finds ports that are not in their VLAN, and VLANs that do not lead from each of their ports to each
// other. tables has the members at each node; why says why the table of a node is missing.
func CompareVLANs(
	ctx context.Context,
	lab *intent.Lab,
	found *Found,
	tables map[*Node]Members,
	why map[*Node]string,
) ([]Finding, error) {
	x := vlanComparison{
		places: Place(lab, found),
		why:    why,
		cables: collectCables(found),
		at:     map[*Node][]*cable{},
	}
	for _, c := range x.cables {
		x.at[c.a.node] = append(x.at[c.a.node], c)
		x.at[c.b.node] = append(x.at[c.b.node], c)
	}
	var out []Finding
	for _, v := range lab.VLANs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x.members = map[port]bool{}
		for n, t := range tables {
			for _, id := range t[v.ID] {
				x.members[port{n, id}] = true
			}
		}
		out = append(out, x.compareVLAN(v)...)
	}
	return out, nil
}

type vlanComparison struct {
	places  *Places
	why     map[*Node]string
	cables  []*cable
	at      map[*Node][]*cable
	members map[port]bool // of the VLAN that is compared
}

func (x vlanComparison) compareVLAN(v intent.VLAN) []Finding {
	var out []Finding
	say := func(kind Kind, subject, format string, args ...any) {
		out = append(out, Finding{
			Kind:    kind,
			Subject: subject,
			Text:    fmt.Sprintf(format, args...),
			Line:    v.Line,
		})
	}
	var ends []port
	for _, e := range v.Ports {
		n := x.places.Node(e.Device)
		if n == nil {
			continue // that the device is missing is said once, of the device
		}
		id, wrong := n.resolvePort(e.Port)
		switch {
		case wrong != "":
			say(PortUnknown, e.String(), "%s %s", e.Device, wrong)
		case x.why[n] != "":
			say(VLANPort, e.String(), "VLAN %d: the VLANs of %s could not be read: %s", v.ID, e.Device, x.why[n])
		case !x.members[port{n, id}]:
			say(VLANPort, e.String(), "%s is not in VLAN %d", e, v.ID)
		default:
			ends = append(ends, port{n, id})
		}
	}
	if len(ends) < 2 {
		return out
	}
	reached := x.reach(ends[0].node)
	cut := sync.OnceValue(func() string { return x.explainCut(reached) })
	for _, e := range ends[1:] {
		if !reached[e.node] {
			say(VLANBroken, fmt.Sprintf("VLAN %d", v.ID), "it does not lead from %s to %s%s", ends[0], e, cut())
		}
	}
	return out
}

// carries reports whether an end of a cable is in the VLAN: the port, or one of its aggregation.
func (x vlanComparison) carries(c *cable, end port) bool {
	isB := c.ports[end]
	for p, atB := range c.ports {
		if atB == isB && x.members[p] {
			return true
		}
	}
	return false
}

// reach are the nodes that the VLAN leads to from a node.
func (x vlanComparison) reach(from *Node) map[*Node]bool {
	reached := map[*Node]bool{from: true}
	for next := []*Node{from}; len(next) > 0; next = next[1:] {
		for _, c := range x.at[next[0]] {
			if reached[c.a.node] == reached[c.b.node] || !x.carries(c, c.a) || !x.carries(c, c.b) {
				continue
			}
			for _, n := range []*Node{c.a.node, c.b.node} {
				if !reached[n] {
					reached[n] = true
					next = append(next, n)
				}
			}
		}
	}
	return reached
}

// maxCuts is how many ends of a VLAN an explanation names.
const maxCuts = 4

// explainCut names the cables that lead out of what the VLAN reaches and do not carry it.
func (x vlanComparison) explainCut(reached map[*Node]bool) string {
	var cuts []string
	for _, c := range x.cables {
		if reached[c.a.node] == reached[c.b.node] {
			continue
		}
		for _, end := range []port{c.a, c.b} {
			if !x.carries(c, end) {
				cuts = append(cuts, fmt.Sprintf("%s is not in it (link %s)", end, c))
				break
			}
		}
	}
	switch {
	case len(cuts) == 0:
		return ": no link leads there"
	case len(cuts) > maxCuts:
		cuts = append(cuts[:maxCuts], "…")
	}
	return ": " + strings.Join(cuts, "; ")
}
