package discovery

import (
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
)

// What device answers when it is no switch of the list, or several could be meant.
const (
	outsider  = -1
	ambiguous = -2
)

// device finds the switch a neighbour of switch self is. byName says that nothing
// but the system's name spoke for it.
func (x *index) device(self int, n *Neighbor) (i int, byName bool) {
	strong := [][]int{x.byChassis[chassisKey(n.Chassis)]}
	if n.Protocol == CDP {
		strong = [][]int{x.byDevice[fold(mib.Text(n.Chassis.ID))]}
	}
	if mac := mib.MACOf(n.Chassis.ID); mac != 0 && (n.Chassis.Subtype == chassisMAC || n.Chassis.Subtype == 0) {
		strong = append(strong, x.byMAC[mac])
	}
	var left []int // what all ways so far agree on
	for _, found := range strong {
		if left = narrow(left, found); len(left) == 1 {
			return left[0], false
		}
	}
	named := left
	x.portMACs()
	weak := [][]int{}
	if mac := mib.MACOf(n.Port.ID); mac.Unicast() && (n.Port.Subtype == portMAC || n.Port.Subtype == 0) {
		weak = append(weak, x.byPortMAC[mac], x.byIfMAC[mac])
	}
	if mac := mib.MACOf(n.Chassis.ID); mac.Unicast() && n.Chassis.Subtype == chassisMAC {
		weak = append(weak, x.byIfMAC[mac])
	}
	if a, ok := address(n.Chassis); ok {
		weak = append(weak, x.byAddress[a])
	}
	for _, a := range n.Addresses {
		weak = append(weak, x.byAddress[a.Unmap()])
	}
	names := len(weak)
	if s := fold(n.SysName); s != "" {
		weak = append(weak, x.bySysName[s])
	}
	// The weaker ways never find the switch itself: addresses that all ports share
	// and names that an export blanked out would make it its own neighbour.
	for w, found := range weak {
		alone := left == nil // nothing else spoke so far
		others := slices.DeleteFunc(slices.Clone(found), func(i int) bool { return i == self || !x.plausible(i, n) })
		if left = narrow(left, others); len(left) == 1 {
			return left[0], w == names && alone
		}
	}
	if len(named) > 1 {
		return ambiguous, false
	}
	return outsider, false
}

// plausible refuses a switch found by a weak way when its own chassis id is of
// the kind the neighbour reports, and another one.
func (x *index) plausible(i int, n *Neighbor) bool {
	c := x.obs[i].Chassis
	return len(c.ID) == 0 || len(n.Chassis.ID) == 0 || c.Subtype != n.Chassis.Subtype || chassisKey(c) == chassisKey(n.Chassis)
}

// port narrows down which ports of switch i a neighbour means. nil is any of them.
func (x *index) port(i int, n *Neighbor) []int {
	ports := x.obs[i].Ports
	var left []int
	if id := idText(n.Port); len(n.Port.ID) > 0 && id != "" {
		mac := mib.MAC(0)
		if n.Port.Subtype == portMAC {
			mac = mib.MACOf(n.Port.ID)
		}
		named := where(ports, func(p *Port) bool { return len(p.LLDP.ID) > 0 && idText(p.LLDP) == id })
		switch {
		case len(named) > 0: // the switch itself names ports so: no other reading of it
			left = narrow(named, where(ports, func(p *Port) bool { return p.LLDP.Subtype == n.Port.Subtype }))
		case mac != 0:
			left = where(ports, func(p *Port) bool { return p.MAC == mac })
		default:
			left = where(ports, func(p *Port) bool { return same(p.Name, id) || same(p.Descr, id) })
			if len(left) != 1 {
				left = narrow(left, where(ports, func(p *Port) bool { return same(p.ID, id) }))
			}
		}
	}
	if n.PortDesc != "" && len(left) != 1 {
		left = narrow(left, where(ports, func(p *Port) bool {
			return same(p.LLDPDesc, n.PortDesc) || same(p.Name, n.PortDesc) || same(p.Descr, n.PortDesc)
		}))
	}
	return left
}

// where lists the ports of which f holds.
func where(ports []Port, f func(*Port) bool) []int {
	var out []int
	for i := range ports {
		if f(&ports[i]) {
			out = append(out, i)
		}
	}
	return out
}

// same compares texts that devices write: a text that is not there equals none.
func same(a, b string) bool {
	return a != "" && strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

// narrow intersects what is left with what another way found. A way that finds
// nothing, or nothing of what is left, does not count.
func narrow(left, found []int) []int {
	if len(found) == 0 {
		return left
	}
	if left == nil {
		return found
	}
	var both []int
	for _, i := range left {
		if slices.Contains(found, i) {
			both = append(both, i)
		}
	}
	if len(both) == 0 {
		return left
	}
	return both
}
