package mibdriver

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/switchdriver"
)

// Recover repairs a change that was not finished: when the switch shows all of it, it
// is whole; else each step that shows is taken back, the last first. An instance that
// shows neither what it was nor what it was to be was changed by somebody else since,
// and stays. It fails when the switch cannot be asked: then it is to be tried again.
func (d *Driver) Recover(ctx context.Context, sw *switchdriver.Switch, steps []writes.Step) (outcome writes.Outcome, text string, err error) {
	r, w, err := both(sw)
	if err != nil {
		return "", "", err
	}
	now, err := d.current(ctx, r, steps)
	if err != nil {
		return "", "", deviceFault(sw, err)
	}
	if whole(steps, now) {
		return writes.Whole, "", nil
	}
	var foreign, stuck []string
	for _, s := range slices.Backward(steps) {
		set, others := undo(s, now)
		foreign = append(foreign, others...)
		if len(set) == 0 {
			continue
		}
		if err := d.set(ctx, w, set); err != nil {
			if !refusal(err) {
				return "", "", deviceFault(sw, err)
			}
			stuck = append(stuck, fmt.Sprintf("%s: %v", s.What, err))
			continue
		}
		for _, a := range s.Assigns {
			if i := slices.IndexFunc(set, func(p gosnmp.SnmpPDU) bool { return p.Name == a.OID }); i >= 0 {
				now[a.OID] = a.From
			}
		}
	}
	outcome = writes.Undone
	if len(foreign) > 0 {
		outcome, text = writes.Left, "changed by somebody else since: "+strings.Join(foreign, ", ")
	}
	if len(stuck) > 0 {
		outcome, text = writes.Left, strings.Trim(text+"; refused by the switch: "+strings.Join(stuck, ", "), "; ")
	}
	return outcome, text, nil
}

// current reads what the instances of the steps hold; nil for one that is not there.
func (d *Driver) current(ctx context.Context, r snmp.Target, steps []writes.Step) (map[string]*string, error) {
	kinds := map[string]writes.Kind{}
	var oids []string
	for _, s := range steps {
		for _, a := range s.Assigns {
			if _, ok := kinds[a.OID]; !ok {
				oids = append(oids, a.OID)
			}
			kinds[a.OID] = a.Kind
		}
	}
	now := make(map[string]*string, len(oids))
	for chunk := range slices.Chunk(oids, 8) { // PortLists may be long
		v, err := d.snmp.Get(ctx, r, chunk...)
		if err != nil {
			return nil, err
		}
		for i, oid := range chunk {
			switch {
			case !v[i].Exists():
				now[oid] = nil
			case kinds[oid] == writes.Octets:
				now[oid] = writes.Hex(append([]byte{}, v[i].Peek()...))
			default:
				now[oid] = writes.Number(v[i].Int())
			}
			if n := now[oid]; n != nil && removable(kinds[oid]) && *n == strconv.Itoa(mib.ARPTypeInvalid) {
				now[oid] = nil
			}
		}
	}
	return now, nil
}

// removable reports whether the value 2, invalid, removes an instance's row: the same in
// ipNetToMediaType and dot1qStaticUnicastStatus.
func removable(k writes.Kind) bool { return k == writes.ARP || k == writes.FDB }

// whole reports whether each instance holds what the last step that assigns it gives. Where the steps end with the
// removal of a row that is gone, its columns are gone, too.
func whole(steps []writes.Step, now map[string]*string) bool {
	last := map[string]writes.Assignment{}
	removed := false
	for _, s := range steps {
		removed = false
		for _, a := range s.Assigns {
			last[a.OID] = a
			removed = removed || a.Kind == writes.Row && a.To == nil && now[a.OID] == nil
		}
	}
	for oid, a := range last {
		if !same(a.Kind, a.To, now[oid]) && !(removed && now[oid] == nil) {
			return false
		}
	}
	return true
}

// undo is the SET that takes a step back where it shows, and the instances that
// somebody else has changed.
func undo(s writes.Step, now map[string]*string) (set []gosnmp.SnmpPDU, foreign []string) {
	for _, a := range s.Assigns {
		n := now[a.OID]
		switch {
		case same(a.Kind, a.From, n):
		case a.From == nil && a.Kind == writes.Row:
			return []gosnmp.SnmpPDU{snmp.Integer(a.OID, mib.RowDestroy)}, nil // takes the columns along
		case a.From == nil && removable(a.Kind):
			return []gosnmp.SnmpPDU{snmp.Integer(a.OID, mib.ARPTypeInvalid)}, nil
		case a.From == nil: // a column of a row that another step makes
		case !same(a.Kind, a.To, n):
			foreign = append(foreign, strings.TrimPrefix(a.OID, "."))
		default:
			if p, ok := binding(a, a.From); ok {
				set = append(set, p)
			}
		}
	}
	return set, foreign
}

// binding assigns a value to an instance; false: it is not an instance, or it is a whole row.
func binding(a writes.Assignment, value *string) (gosnmp.SnmpPDU, bool) {
	switch {
	case value == nil:
		return snmp.Integer(a.OID, mib.ARPTypeInvalid), removable(a.Kind)
	case a.Kind == writes.Octets:
		b, err := hex.DecodeString(*value)
		return snmp.Octets(a.OID, b), err == nil
	case a.Kind == writes.Gauge:
		n, err := strconv.ParseUint(*value, 10, 32)
		return snmp.Gauge(a.OID, uint32(n)), err == nil
	case a.Kind == writes.Integer || removable(a.Kind):
		n, err := strconv.Atoi(*value)
		return snmp.Integer(a.OID, n), err == nil
	}
	return gosnmp.SnmpPDU{}, false // a removed row is the end of its change
}

// same compares two values. PortLists may differ in the zero octets at their end.
func same(k writes.Kind, a, b *string) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if k != writes.Octets {
		return *a == *b
	}
	x, err1 := hex.DecodeString(*a)
	y, err2 := hex.DecodeString(*b)
	return err1 == nil && err2 == nil && bytes.Equal(bytes.TrimRight(x, "\x00"), bytes.TrimRight(y, "\x00"))
}
