package mibdriver

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
)

// values are what instances hold, by OID; nil: they do not exist.
type values map[string]*string

// chain is what the steps of a change give one instance, one after the other: all of it is their own doing.
type chain struct {
	writes.Assignment // the first; its From is what was before the change
	values            []*string
}

// assignmentChains are those of all instances that the steps assign, in the order in which they do.
func assignmentChains(steps []writes.Step) (order []string, all map[string]*chain) {
	all = map[string]*chain{}
	for _, s := range steps {
		for _, a := range s.Assigns {
			c := all[a.OID]
			if c == nil {
				c = &chain{a, []*string{a.From}}
				all[a.OID], order = c, append(order, a.OID)
			}
			c.values = append(c.values, a.To)
		}
	}
	return order, all
}

// hasValue reports whether a value is one that the steps give.
func (c *chain) hasValue(v *string) bool {
	return slices.ContainsFunc(c.values, func(own *string) bool {
		return sameValue(c.Assignment, own, v)
	})
}

// unlikeAssignments returns the assignments, one for each instance, whose last value is not what it holds.
func unlikeAssignments(steps []writes.Step, now values) (out []writes.Assignment) {
	order, all := assignmentChains(steps)
	for _, oid := range order {
		c := all[oid]
		last := c.Assignment
		last.To = c.values[len(c.values)-1]
		if !sameValue(last, last.To, now[oid]) {
			out = append(out, last)
		}
	}
	return out
}

// changedAssignments returns the assignments, one for each instance, whose change still shows in some way. Unless exact, not
// those that somebody else has given another value since, nor ports of a PortList that no step was about.
func changedAssignments(steps []writes.Step, now values, exact bool) (out []writes.Assignment) {
	order, all := assignmentChains(steps)
	for _, oid := range order {
		c := all[oid]
		n := now[oid]
		if !exact && c.Mask != "" {
			n = c.ownPorts(n)
		}
		if !sameValue(c.Assignment, c.From, n) && (exact || c.Mask != "" || c.hasValue(n)) {
			out = append(out, c.Assignment)
		}
	}
	return out
}

// ownPorts is a PortList with the ports alone that the steps change as it has them, all others as they were before.
func (c *chain) ownPorts(now *string) *string {
	if now == nil || c.From == nil {
		return now
	}
	from := octets(c.From)
	touched := []byte{}
	for _, v := range c.values {
		touched = combineOctets(touched, combineOctets(from, octets(v), xorBytes), orBytes)
	}
	return writes.Hex(pickBits(touched, octets(now), from))
}

// octets are those of a value that has passed Assignment.check.
func octets(v *string) []byte {
	if v == nil {
		return nil
	}
	b, _ := hex.DecodeString(*v)
	return b
}

func xorBytes(a, b byte) byte { return a ^ b }
func orBytes(a, b byte) byte  { return a | b }

// combineOctets combines octets one by one; the shorter counts as filled with zeros.
func combineOctets(a, b []byte, f func(a, b byte) byte) []byte {
	out := make([]byte, max(len(a), len(b)))
	copy(out, a)
	for i := range out {
		other := byte(0)
		if i < len(b) {
			other = b[i]
		}
		out[i] = f(out[i], other)
	}
	return out
}

// pickBits takes the bits of a that are set in mask, and the others of b.
func pickBits(mask, a, b []byte) []byte {
	taken := combineOctets(a, mask, func(x, m byte) byte { return x & m })
	kept := combineOctets(b, mask, func(x, m byte) byte { return x &^ m })
	return combineOctets(taken, kept, orBytes)
}

// sameValue compares two values of an instance. PortLists are compared by the ports that the switch has, and may differ
// in the zero octets at their end.
func sameValue(a writes.Assignment, x, y *string) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	if a.Kind != writes.Octets {
		return *x == *y
	}
	differ := combineOctets(octets(x), octets(y), xorBytes)
	if a.Mask != "" {
		differ = combineOctets(differ, octets(&a.Mask), func(d, mask byte) byte {
			return d & mask
		})
	}
	return len(bytes.Trim(differ, "\x00")) == 0
}

// way is some SETs that are sent one after the other.
type way [][]gosnmp.SnmpPDU

// undoStep returns the ways to take back what of a step shows, of which the first that the switch takes is enough, and
// the instances that somebody else has changed. With exact nobody else can have: all is made as it was.
func undoStep(
	s writes.Step,
	all map[string]*chain,
	now values,
	exact bool,
) (ways []way, foreign []string) {
	var set []gosnmp.SnmpPDU
	for _, a := range s.Assigns {
		n, c := now[a.OID], all[a.OID]
		switch {
		case sameValue(a, a.From, n), sameValue(a, c.From, n):
		case a.Kind == writes.Row && a.From == nil:
			return []way{{{snmp.Integer(a.OID, mib.RowDestroy)}}}, nil // takes the columns along
		case a.Kind == writes.Row && n == nil:
			return remakeVLAN(s, a), nil
		case a.From == nil && isRemovable(a.Kind):
			return []way{{{snmp.Integer(a.OID, mib.ARPTypeInvalid)}}}, nil
		case a.From == nil: // a column of a row that another step makes
		case n == nil && !isRemovable(a.Kind) && removesRow(s, a.OID): // it comes back with its row
		case n != nil && a.Mask != "" && !exact:
			set = appendList(set, a, n)
		case sameValue(a, a.To, n), exact:
			if p, ok := bindingOf(a, a.From); ok {
				set = append(set, p)
			}
		case !c.hasValue(n):
			foreign = append(foreign, strings.TrimPrefix(a.OID, "."))
		}
	}
	if len(set) > 0 {
		ways = []way{{set}}
	}
	return ways, foreign
}

// removesRow reports whether a step removes the row of VLAN that a column belongs to.
func removesRow(s writes.Step, column string) bool {
	_, ix, ok := vlanColumn(column)
	return ok && slices.ContainsFunc(s.Assigns, func(a writes.Assignment) bool {
		return a.Kind == writes.Row && a.To == nil && a.OID == mib.Sub(mib.QVlanStaticRowStatus, ix)
	})
}

// appendList gives the ports that a step changes what they had; the others stay as they are.
func appendList(set []gosnmp.SnmpPDU, a writes.Assignment, now *string) []gosnmp.SnmpPDU {
	touched := combineOctets(octets(a.From), octets(a.To), xorBytes)
	back := pickBits(touched, octets(a.From), octets(now))
	if bytes.Equal(back, octets(now)) {
		return set
	}
	return append(set, snmp.Octets(a.OID, back))
}

// remakeVLAN returns the ways to make a VLAN again that a step removed; none if the step does not say what it was.
func remakeVLAN(s writes.Step, row writes.Assignment) (ways []way) {
	_, vid, ok := vlanColumn(row.OID)
	if !ok {
		return nil
	}
	columns := map[string]gosnmp.SnmpPDU{}
	for _, a := range s.Assigns {
		p, ok := bindingOf(a, a.From)
		if ok && a.Kind == writes.Octets {
			base, _, _ := vlanColumn(a.OID)
			columns[base] = p
		}
	}
	if len(columns) == 0 {
		return nil
	}
	for _, seq := range Sequences("") {
		var w way
		for _, items := range seq {
			var set []gosnmp.SnmpPDU
			for _, item := range items {
				if p, ok := columns[columnOf(item)]; ok {
					set = append(set, p)
				} else if status := rowStatus(item); status != 0 {
					set = append(set, snmp.Integer(mib.Sub(mib.QVlanStaticRowStatus, vid), status))
				}
			}
			if len(set) > 0 {
				w = append(w, set)
			}
		}
		ways = append(ways, w)
	}
	return ways
}

// vlanColumn is the column of dot1qVlanStaticTable and the VLAN of an instance.
func vlanColumn(oid string) (column string, vid mib.VID, ok bool) {
	for _, c := range []string{mib.QVlanStaticName, mib.QVlanStaticEgress, mib.QVlanStaticUntagged, mib.QVlanStaticRowStatus} {
		ix, under := mib.Under(c, oid, nil)
		if under && len(ix) == 1 {
			return c, ix[0], true
		}
	}
	return "", 0, false
}

// isRemovable reports whether the value 2, invalid, removes an instance's row: the same in
// ipNetToMediaType and dot1qStaticUnicastStatus.
func isRemovable(k writes.Kind) bool {
	return k == writes.ARP || k == writes.FDB
}

// bindingOf assigns a value to an instance; false: it is not an instance, or it is a whole row.
func bindingOf(a writes.Assignment, value *string) (gosnmp.SnmpPDU, bool) {
	switch {
	case value == nil:
		return snmp.Integer(a.OID, mib.ARPTypeInvalid), isRemovable(a.Kind)
	case a.Kind == writes.Octets:
		b, err := hex.DecodeString(*value)
		return snmp.Octets(a.OID, b), err == nil
	case a.Kind == writes.Gauge:
		n, err := strconv.ParseUint(*value, 10, 32)
		return snmp.Gauge(a.OID, uint32(n)), err == nil
	case a.Kind == writes.Integer || isRemovable(a.Kind):
		n, err := strconv.Atoi(*value)
		return snmp.Integer(a.OID, n), err == nil
	}
	return gosnmp.SnmpPDU{}, false
}

// describeDifference says for people what an instance holds that should hold something else.
func describeDifference(a writes.Assignment, want, now *string) string {
	column, vid, ok := vlanColumn(a.OID)
	port, isPVID := mib.Under(mib.QPvid, a.OID, nil)
	switch {
	case isPVID && len(port) == 1 && now != nil:
		return fmt.Sprintf("port %d with PVID %s", port[0], *now)
	case !ok && now == nil:
		return fmt.Sprintf("no instance %s", instanceName(a.OID))
	case !ok && a.Kind == writes.Octets:
		return fmt.Sprintf("%s with the value %q", instanceName(a.OID), mib.Text(octets(now)))
	case !ok:
		return fmt.Sprintf("%s with the value %s", instanceName(a.OID), *now)
	case now == nil:
		return fmt.Sprintf("no VLAN %d", vid)
	case column == mib.QVlanStaticRowStatus && want == nil:
		return fmt.Sprintf("VLAN %d still there", vid)
	case column == mib.QVlanStaticRowStatus:
		return fmt.Sprintf("VLAN %d with row status %s", vid, *now)
	case column == mib.QVlanStaticName:
		return fmt.Sprintf("VLAN %d with the name %q", vid, mib.Text(octets(now)))
	}
	return fmt.Sprintf("VLAN %d %s", vid, shownPorts(column, a.Mask, want, now))
}

// instanceName is what people call an instance that is not of a VLAN.
func instanceName(oid string) string {
	for column, name := range map[string]string{
		mib.IfAdminStatus:        "ifAdminStatus",
		mib.IfAlias:              "ifAlias",
		mib.PsePortAdminEnable:   "pethPsePortAdminEnable",
		mib.PsePortPowerPriority: "pethPsePortPowerPriority",
		mib.StpPortEnable:        "dot1dStpPortEnable",
	} {
		if index, under := strings.CutPrefix(oid, column+"."); under {
			return name + "." + index
		}
	}
	return strings.TrimPrefix(oid, ".")
}

// shownPorts says which ports a PortList has that it should not, and the other way round.
func shownPorts(column, mask string, want, now *string) string {
	tagging := ""
	if column == mib.QVlanStaticUntagged {
		tagging = "untagged "
	}
	known := mib.ListBits.Ports(octets(&mask), nil)
	if mask == "" {
		known = nil
	}
	list := func(v *string, without *string) []uint32 {
		p := mib.PortList(octets(v), known)
		for n := range mib.PortList(octets(without), known) {
			delete(p, n)
		}
		return p.Sorted()
	}
	var parts []string
	if more := list(now, want); len(more) > 0 {
		parts = append(parts, fmt.Sprintf("with the %sports %s", tagging, formatNumbers(more)))
	}
	if fewer := list(want, now); len(fewer) > 0 {
		parts = append(parts, fmt.Sprintf("without the %sports %s", tagging, formatNumbers(fewer)))
	}
	return strings.Join(parts, " and ")
}

// formatNumbers writes port numbers, the first of many.
func formatNumbers(ports []uint32) string {
	const most = 24
	var b strings.Builder
	for i, n := range ports[:min(len(ports), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatUint(uint64(n), 10))
	}
	if more := len(ports) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}
