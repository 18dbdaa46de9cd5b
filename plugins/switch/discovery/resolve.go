package discovery

import (
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/ifname"
	"ctl.internal/plugins/switch/mib"
)

// What device answers when it is no switch of the list, or several could be meant.
const (
	outsider  = -1
	ambiguous = -2
)

// findDevice finds the switch a neighbour of switch self is. byName says that nothing
// but the system's name spoke for it.
func (x *index) findDevice(self int, n *Neighbor) (i int, byName bool) {
	var strong [][]int
	switch {
	case n.Protocol == CDP || n.Protocol == FDP:
		strong = append(strong, x.byDevice[comparableID(n.Chassis.ID)])
		if mac := binaryMAC(n.Chassis.ID); mac != 0 {
			strong = append(strong, x.byMAC[mac])
		}
	case !isAnonymousChassis(n.Chassis):
		strong = append(strong, x.byChassis[chassisKey(n.Chassis)])
	}
	mac := mib.MACOf(n.Chassis.ID)
	if mac != 0 && (n.Chassis.Subtype == chassisMAC || n.Chassis.Subtype == 0) {
		strong = append(strong, x.byMAC[mac])
	}
	var left []int // what all ways so far agree on
	for _, found := range strong {
		if left = narrowIndexes(left, found); len(left) == 1 {
			return left[0], false
		}
	}
	named := left
	x.portMACs()
	weak := [][]int{}
	if mac := mib.MACOf(n.Port.ID); mac.Unicast() &&
		(n.Port.Subtype == portMAC || n.Port.Subtype == 0) {
		weak = append(weak, x.byPortMAC[mac], x.byIfMAC[mac])
	}
	if mac := mib.MACOf(n.Chassis.ID); mac.Unicast() && n.Chassis.Subtype == chassisMAC {
		weak = append(weak, x.byIfMAC[mac])
	}
	a, ok := addressOfChassis(n.Chassis)
	if ok && isDeviceAddress(a) {
		weak = append(weak, x.byAddress[a])
	}
	for _, a := range n.Addresses {
		if isDeviceAddress(a) {
			weak = append(weak, x.byAddress[a.Unmap()])
		}
	}
	names := len(weak)
	if s := foldText(n.SysName); s != "" {
		found := x.bySysName[s]
		if len(found) == 0 {
			found = x.bySysName[hostOf(s)]
		}
		weak = append(weak, found)
	}
	// The weaker ways never find the switch itself: addresses that all ports share
	// and names that an export blanked out would make it its own neighbour.
	for w, found := range weak {
		alone := left == nil // nothing else spoke so far
		others := slices.DeleteFunc(slices.Clone(found), func(i int) bool {
			return i == self || !x.isPlausible(i, n)
		})
		if left = narrowIndexes(left, others); len(left) == 1 {
			return left[0], w == names && alone
		}
	}
	if len(named) > 1 {
		return ambiguous, false
	}
	return outsider, false
}

// isPlausible refuses a switch found by a weak way when its own chassis id is of
// the kind the neighbour reports, and another one.
func (x *index) isPlausible(i int, n *Neighbor) bool {
	c := x.obs[i].Chassis
	return len(c.ID) == 0 ||
		len(n.Chassis.ID) == 0 ||
		c.Subtype != n.Chassis.Subtype ||
		chassisKey(c) == chassisKey(n.Chassis)
}

// narrowPorts narrows down which ports of switch i a neighbour means. nil is any of them.
func (x *index) narrowPorts(i int, n *Neighbor) []int {
	ports := x.obs[i].Ports
	left := x.byPortID(ports, n.Port)
	if n.PortDesc == "" || len(left) == 1 && !bareNumber(n.Port) {
		return left
	}
	described := portsWhere(ports, func(p *Port) bool {
		return sameText(p.LLDPDesc, n.PortDesc) ||
			sameText(p.Name, n.PortDesc) ||
			sameText(p.Descr, n.PortDesc)
	})
	if len(described) == 0 {
		described = portsWhere(ports, func(p *Port) bool {
			return ifname.Same(p.Name, n.PortDesc) || ifname.Same(p.Descr, n.PortDesc)
		})
	}
	if len(left) > 0 && len(described) == 1 && !slices.Contains(left, described[0]) {
		return append(slices.Clone(left), described[0]) // they contradict each other: none of them is believed alone
	}
	return narrowIndexes(left, described)
}

// bareNumber reports whether a port id is nothing but a number, which may be of any kind.
func bareNumber(id Identifier) bool {
	text, ok := printableIdentifier(id.ID)
	return ok && text != "" && strings.Trim(text, "0123456789") == ""
}

// byPortID finds the ports that a port id may mean.
func (x *index) byPortID(ports []Port, port Identifier) []int {
	id := idText(port)
	if len(port.ID) == 0 || id == "" {
		return nil
	}
	mac := mib.MAC(0)
	if port.Subtype == portMAC {
		mac = mib.MACOf(port.ID)
	}
	named := portsWhere(ports, func(p *Port) bool {
		return len(p.LLDP.ID) > 0 && idText(p.LLDP) == id
	})
	switch {
	case len(named) > 0: // the switch itself names ports so: no other reading of it
		return narrowIndexes(
			named,
			portsWhere(ports, func(p *Port) bool {
				return p.LLDP.Subtype == port.Subtype
			}),
		)
	case mac != 0:
		return portsWhere(ports, func(p *Port) bool { return p.MAC == mac })
	case bareNumber(port):
		return portsWhere(ports, func(p *Port) bool { return p.hasNumber(id) })
	}
	left := portsWhere(ports, func(p *Port) bool {
		return sameText(p.Name, id) || sameText(p.Descr, id)
	})
	slot, number, ok := strings.Cut(id, ":")
	if ok && slot == "1" && len(left) == 0 { // a switch alone, as slot 1
		left = portsWhere(ports, func(p *Port) bool { return sameText(p.Name, number) })
	}
	if len(left) == 0 {
		left = portsWhere(ports, func(p *Port) bool {
			return ifname.Same(p.Name, id) || ifname.Same(p.Descr, id)
		})
	}
	if len(left) != 1 {
		left = narrowIndexes(
			left,
			portsWhere(ports, func(p *Port) bool { return sameText(p.ID, id) }),
		)
	}
	return left
}

// hasNumber reports whether a number is one of those of a port, or its name.
func (p *Port) hasNumber(id string) bool {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil || n == 0 {
		return sameText(p.Name, id) || sameText(p.Descr, id)
	}
	return p.Number == uint32(n) ||
		p.IfIndex == uint32(n) ||
		p.LLDPLocal == uint32(n) ||
		sameText(p.Name, id) ||
		sameText(p.Descr, id)
}

// portsWhere lists the ports of which f holds.
func portsWhere(ports []Port, f func(*Port) bool) []int {
	var out []int
	for i := range ports {
		if f(&ports[i]) {
			out = append(out, i)
		}
	}
	return out
}

// sameText compares texts that devices write: a text that is not there equals none.
func sameText(a, b string) bool {
	return a != "" && strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

// narrowIndexes intersects what is left with what another way found. A way that finds
// nothing, or nothing of what is left, does not count.
func narrowIndexes(left, found []int) []int {
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
