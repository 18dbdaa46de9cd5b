package simswitch

import (
	"cmp"
	"slices"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// The values of dot1qStaticUnicastStatus.
const (
	staticInvalid   = 2
	staticPermanent = 3
)

// staticRow is a row of dot1qStaticUnicastTable; the receive port is always 0 (all).
type staticRow struct {
	vlan  uint16
	mac   MAC
	kind  uint8
	ports []byte
}

func (r staticRow) compare(o staticRow) int {
	return cmp.Or(cmp.Compare(r.vlan, o.vlan), slices.Compare(r.mac[:], o.mac[:]))
}

func staticTable() table[*staticRow] {
	return table[*staticRow]{
		at:    snmpwire.MustOID("1.3.6.1.2.1.17.7.1.3.1.1"),
		count: func(s *Switch) int { return len(s.statics) },
		row:   func(s *Switch, i int) *staticRow { return &s.statics[i] },
		index: func(s *Switch, r *staticRow, dst oid) oid {
			return append(appendMAC(append(dst, s.fdbID(r.vlan)), r.mac), 0)
		},
	}
}

// staticObjects is dot1qStaticUnicastTable of Q-BRIDGE-MIB. Unlike RowStatus
// tables, assigning either column makes the row, and status invalid deletes it.
func staticObjects() []object {
	t := staticTable()
	ports := t.newColumn(3, "dot1qStaticUnicastAllowedToGoTo", func(s *Switch, r *staticRow) value {
		return s.portList(r.ports)
	})
	ports.Syntax, ports.Set = portListSyntax(), setStaticPorts
	kind := t.newColumn(4, "dot1qStaticUnicastStatus", func(_ *Switch, r *staticRow) value {
		return snmpwire.Int32(int(r.kind))
	})
	kind.Syntax, kind.Set = integerSyntax(1, 5), setStaticStatus
	return []object{ports, kind}
}

// staticIndex checks an index that may not exist yet: a unicast address in the
// forwarding database of a VLAN there is.
func (s *Switch) staticIndex(inst oid) (staticRow, status) {
	var r staticRow
	if len(inst) != 8 || inst[7] != 0 {
		return r, snmpwire.NoCreation
	}
	for i, a := range inst[1:7] {
		if a > 255 {
			return r, snmpwire.NoCreation
		}
		r.mac[i] = byte(a)
	}
	if r.mac[0]&1 != 0 || r.mac == (MAC{}) {
		return r, snmpwire.NoCreation
	}
	v := s.findVLAN(uint32(int64(inst[0]) - int64(s.cfg.Profile.FDBOffset)))
	if v == nil {
		return r, snmpwire.InconsistentName
	}
	r.vlan, r.kind, r.ports = v.id, staticPermanent, s.emptyPortList()
	return r, snmpwire.NoError
}

// staticRow finds or makes a row.
func (s *Switch) staticRow(t tx, inst oid) (*staticRow, status) {
	if r, ok := staticTable().findRow(s, inst); ok {
		s.saveStatics(t)
		return r, snmpwire.NoError
	}
	r, st := s.staticIndex(inst)
	if st != snmpwire.NoError {
		return nil, st
	}
	s.saveStatics(t)
	i, _ := slices.BinarySearchFunc(s.statics, r, staticRow.compare)
	s.statics = slices.Insert(s.statics, i, r)
	return &s.statics[i], snmpwire.NoError
}

// saveStatics lets an assignment be undone, and has the row checked and the
// forwarding database follow.
func (s *Switch) saveStatics(t tx) {
	rows, fdb := slices.Clone(s.statics), slices.Clone(s.fdb)
	t.Undo(func() { s.statics, s.fdb = rows, fdb })
}

func setStaticPorts(s *Switch, t tx, inst oid, v value) status {
	ports, st := s.takePortList(v.Bytes)
	if st != snmpwire.NoError {
		return st
	}
	r, st := s.staticRow(t, inst)
	if st != snmpwire.NoError {
		return st
	}
	if s.cfg.Profile.PickPort &&
		len(s.portListMembers(r.ports)) > 0 &&
		r.kind == staticPermanent &&
		statusFirst(t) {
		return snmpwire.NoError // the make has chosen a port already and keeps it
	}
	r.ports = ports
	t.Check(func() status { return s.applyStatic(inst) })
	return snmpwire.NoError
}

// statusFirst reports whether the request names the status before the ports.
func statusFirst(t tx) bool {
	return len(t.List) > 1 && t.List[0].Name.HasPrefix(staticTable().at.Append(4))
}

func setStaticStatus(s *Switch, t tx, inst oid, v value) status {
	if v.Int == staticInvalid {
		return s.deleteStatic(t, inst)
	}
	r, st := s.staticRow(t, inst)
	if st != snmpwire.NoError {
		return st
	}
	r.kind = uint8(v.Int)
	if s.cfg.Profile.PickPort && len(s.portListMembers(r.ports)) == 0 {
		setBit(r.ports, 1, true)
	}
	t.Check(func() status { return s.applyStatic(inst) })
	return snmpwire.NoError
}

// deleteStatic refuses what was only learned: that ages by itself.
func (s *Switch) deleteStatic(t tx, inst oid) status {
	r, ok := staticTable().findRow(s, inst)
	if !ok {
		row, st := s.staticIndex(inst)
		if st != snmpwire.NoError {
			return st
		}
		_, learned := slices.BinarySearchFunc(
			s.fdb,
			fdbRow{vlan: row.vlan, mac: row.mac},
			fdbRow.compare,
		)
		if learned {
			return snmpwire.InconsistentValue
		}
		return snmpwire.InconsistentName
	}
	s.saveStatics(t)
	gone := *r
	s.statics = slices.DeleteFunc(s.statics, func(o staticRow) bool {
		return o.compare(gone) == 0
	})
	s.fdb = slices.DeleteFunc(s.fdb, func(o fdbRow) bool {
		return o.kind == fdbMgmt && o.vlan == gone.vlan && o.mac == gone.mac
	})
	return snmpwire.NoError
}

// applyStatic puts the address where the row says. Its ports must be members
// of the VLAN.
func (s *Switch) applyStatic(inst oid) status {
	r, ok := staticTable().findRow(s, inst)
	if !ok {
		return snmpwire.NoError // deleted by the same request
	}
	members := s.portListMembers(r.ports)
	if len(members) == 0 {
		return snmpwire.InconsistentValue
	}
	v := s.findVLAN(uint32(r.vlan))
	for _, p := range members {
		if v == nil || !hasBit(v.egress, p) {
			return snmpwire.InconsistentValue
		}
	}
	s.putFDB(fdbRow{r.vlan, r.mac, uint16(members[0]), fdbMgmt})
	return snmpwire.NoError
}

func portListSyntax() snmpagent.Syntax {
	return snmpagent.Syntax{
		Tag: snmpwire.OctetString,
		Max: 65535,
	}
}
