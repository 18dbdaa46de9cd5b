package compare

import (
	"fmt"
	"slices"
	"strings"

	"ctl.internal/plugins/lab/intent"
)

// Members are the ports of each VLAN of a device, by id of the VLAN.
type Members map[int][]string

// CompareVLANs finds ports that are not in their VLAN, and VLANs that do not lead from each of their ports to each
// other. tables has the members of each node by its id; why says why the table of a node is missing.
func CompareVLANs(lab *intent.Lab, found *Found, tables map[string]Members, why map[string]string) []Finding {
	x := vlanComparison{
		found:  found,
		tables: tables,
		why:    why,
		cables: collectCables(found),
	}
	var out []Finding
	for _, v := range lab.VLANs {
		out = append(out, x.compareVLAN(lab, v)...)
	}
	return out
}

type vlanComparison struct {
	found  *Found
	tables map[string]Members
	why    map[string]string
	cables []*cable
}

func (x vlanComparison) compareVLAN(lab *intent.Lab, v intent.VLAN) []Finding {
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
		d, _ := lab.Device(e.Device)
		n := x.found.findNode(e.Device, d.Address)
		if n == nil {
			continue // that the device is missing is said once, of the device
		}
		p, ok := n.findPort(e.Port)
		switch {
		case !ok:
			say(PortUnknown, e.String(), "%s has no port %s%s", e.Device, e.Port, suggestPorts(n))
		case x.why[n.ID] != "":
			say(VLANPort, e.String(), "VLAN %d: the VLANs of %s could not be read: %s", v.ID, e.Device, x.why[n.ID])
		case !x.isMember(n, p.ID, v.ID):
			say(VLANPort, e.String(), "%s is not in VLAN %d", e, v.ID)
		default:
			ends = append(ends, port{n, p.ID})
		}
	}
	if len(ends) < 2 {
		return out
	}
	reached := x.reach(ends[0].node, v.ID)
	for _, e := range ends[1:] {
		if !reached[e.node] {
			say(VLANBroken, fmt.Sprintf("VLAN %d", v.ID), "it does not lead from %s to %s%s", ends[0], e, x.explainCut(reached, v.ID))
		}
	}
	return out
}

func (x vlanComparison) isMember(n *Node, id string, vlan int) bool {
	return slices.Contains(x.tables[n.ID][vlan], id)
}

// carries reports whether an end of a cable is in the VLAN: the port, or one of its aggregation.
func (x vlanComparison) carries(c *cable, end port, vlan int) bool {
	isB := c.ports[end]
	for p, atB := range c.ports {
		if atB == isB && x.isMember(p.node, p.id, vlan) {
			return true
		}
	}
	return false
}

// reach are the nodes that a VLAN leads to from a node.
func (x vlanComparison) reach(from *Node, vlan int) map[*Node]bool {
	reached := map[*Node]bool{from: true}
	for grown := true; grown; {
		grown = false
		for _, c := range x.cables {
			if reached[c.a.node] == reached[c.b.node] || !x.carries(c, c.a, vlan) || !x.carries(c, c.b, vlan) {
				continue
			}
			reached[c.a.node] = true
			reached[c.b.node] = true
			grown = true
		}
	}
	return reached
}

// maxCuts is how many ends of a VLAN an explanation names.
const maxCuts = 4

// explainCut names the cables that lead out of what the VLAN reaches and do not carry it.
func (x vlanComparison) explainCut(reached map[*Node]bool, vlan int) string {
	var cuts []string
	for _, c := range x.cables {
		if reached[c.a.node] == reached[c.b.node] {
			continue
		}
		for _, end := range []port{c.a, c.b} {
			if !x.carries(c, end, vlan) {
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
