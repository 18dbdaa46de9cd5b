package simswitch

import (
	"slices"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// vlanStaticObjects is dot1qVlanStaticTable of Q-BRIDGE-MIB.
func vlanStaticObjects() []object {
	t := table[*vlan]{
		at:    snmpwire.MustOID("1.3.6.1.2.1.17.7.1.4.3.1"),
		count: func(s *Switch) int { return len(s.vlans) },
		row:   func(s *Switch, i int) *vlan { return s.vlans[i] },
		index: func(_ *Switch, v *vlan, dst oid) oid { return append(dst, uint32(v.id)) },
	}
	ports := func(n uint32, name string, field func(v *vlan) *[]byte) object {
		o := t.newColumn(n, name, func(s *Switch, v *vlan) value {
			return s.portList(*field(v))
		})
		o.Syntax = portListSyntax()
		o.Set = func(s *Switch, x tx, inst oid, val value) status {
			v, st := s.vlanToWrite(x, inst)
			if st != snmpwire.NoError {
				return st
			}
			list, st := s.takePortList(val.Bytes)
			if st != snmpwire.NoError {
				return st
			}
			return assignField(x, field(v), list)
		}
		return o
	}
	name := t.newColumn(1, "dot1qVlanStaticName", func(_ *Switch, v *vlan) value {
		return snmpwire.Text(v.name)
	})
	name.Syntax = snmpagent.Syntax{
		Tag: snmpwire.OctetString,
		Max: 32,
	}
	name.Set = func(s *Switch, x tx, inst oid, val value) status {
		v, st := s.vlanToWrite(x, inst)
		if st != snmpwire.NoError {
			return st
		}
		return assignField(x, &v.name, string(val.Bytes))
	}
	row := t.newColumn(5, "dot1qVlanStaticRowStatus", func(_ *Switch, v *vlan) value {
		return snmpwire.Int32(int(v.status))
	})
	row.Syntax, row.First, row.Set = integerSyntax(1, 6), true, setRowStatus
	return []object{
		name,
		ports(2, "dot1qVlanStaticEgressPorts", func(v *vlan) *[]byte {
			return &v.egress
		}),
		ports(3, "dot1qVlanForbiddenEgressPorts", func(v *vlan) *[]byte {
			return &v.forbidden
		}),
		ports(4, "dot1qVlanStaticUntaggedPorts", func(v *vlan) *[]byte {
			return &v.untagged
		}),
		row,
	}
}

// vlanToWrite returns the row whose column is assigned and has it checked once
// all assignments are made.
func (s *Switch) vlanToWrite(t tx, inst oid) (*vlan, status) {
	if len(inst) != 1 || inst[0] < 1 || inst[0] > maxVLAN {
		return nil, snmpwire.NoCreation
	}
	v := s.findVLAN(inst[0])
	if v == nil || v.fresh && s.cfg.Profile.CreateAlone {
		return nil, snmpwire.InconsistentName
	}
	t.Check(func() status { return s.checkVLAN(v) })
	t.Commit(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flushLearned(func(r fdbRow) bool {
			return r.vlan == v.id && !hasBit(v.egress, int(r.port))
		})
	})
	return v, snmpwire.NoError
}

func (s *Switch) checkVLAN(v *vlan) status {
	for i := range v.egress {
		if v.untagged[i]&^v.egress[i] != 0 || v.forbidden[i]&v.egress[i] != 0 {
			return snmpwire.InconsistentValue
		}
	}
	return snmpwire.NoError
}

// setRowStatus is the table of RFC 2579's RowStatus for this one.
func setRowStatus(s *Switch, t tx, inst oid, val value) status {
	if len(inst) != 1 || inst[0] < 1 || inst[0] > maxVLAN {
		return snmpwire.NoCreation
	}
	s.active = nil
	t.Undo(func() { s.active = nil })
	v := s.findVLAN(inst[0])
	switch val.Int {
	case active, notInService:
		if v == nil || v.id == 1 && val.Int == notInService {
			return snmpwire.InconsistentValue
		}
		if val.Int == notInService {
			t.Commit(func() { s.flushVLAN(v.id) })
		}
		return assignField(t, &v.status, uint8(val.Int))
	case createAndGo, createAndWait:
		if v != nil {
			return snmpwire.InconsistentValue
		}
		s.createVLAN(t, uint16(inst[0]), val.Int == createAndGo)
		return snmpwire.NoError
	case destroy:
		if v == nil {
			return snmpwire.NoError
		}
		return s.destroyVLAN(t, v)
	}
	return snmpwire.WrongValue // notReady is for the agent to say
}

func (s *Switch) createVLAN(t tx, id uint16, ready bool) {
	v := &vlan{
		id:        id,
		status:    notInService,
		fresh:     true,
		egress:    s.withTail(s.emptyPortList()),
		untagged:  s.emptyPortList(),
		forbidden: s.emptyPortList(),
		created:   s.UpTime(),
	}
	if ready {
		v.status = active
	}
	old := s.vlans
	t.Undo(func() { s.vlans = old })
	t.Commit(func() { s.mu.Lock(); v.fresh = false; s.mu.Unlock() })
	i, _ := s.vlanAt(uint32(id))
	s.vlans = slices.Insert(slices.Clone(old), i, v)
}

// destroyVLAN refuses the default VLAN. Ports whose PVID it was go back to
// VLAN 1, or the make refuses that too.
func (s *Switch) destroyVLAN(t tx, v *vlan) status {
	if v.id == 1 {
		return snmpwire.InconsistentValue
	}
	for i := range s.ports {
		if p := &s.ports[i]; p.pvid == v.id {
			if s.cfg.Profile.KeepUsedVLAN {
				return snmpwire.InconsistentValue
			}
			assignField(t, &p.pvid, 1)
		}
	}
	old := s.vlans
	t.Undo(func() { s.vlans = old })
	i, _ := s.vlanAt(uint32(v.id))
	s.vlans = slices.Delete(slices.Clone(old), i, i+1)
	t.Commit(func() {
		s.flushVLAN(v.id)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.statics = slices.DeleteFunc(s.statics, func(r staticRow) bool {
			return r.vlan == v.id
		})
		s.fdb = slices.DeleteFunc(s.fdb, func(r fdbRow) bool { return r.vlan == v.id })
	})
	return snmpwire.NoError
}

func (s *Switch) flushVLAN(id uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushLearned(func(r fdbRow) bool { return r.vlan == id })
}

// pvidObjects is dot1qPortVlanTable.
func pvidObjects() []object {
	t := portTable(snmpwire.MustOID("1.3.6.1.2.1.17.7.1.4.5.1"))
	pvid := t.newWritableColumn(1, "dot1qPvid", snmpagent.Syntax{
		Tag: snmpwire.Gauge32,
		Min: 1,
		Max: maxVLAN,
	},
		func(_ *Switch, p *port) value { return gaugeValue(uint64(p.pvid)) },
		func(s *Switch, x tx, p *port, v value) status {
			x.Check(func() status {
				row := s.findVLAN(uint32(v.Int))
				if row == nil || row.status != active {
					return snmpwire.InconsistentValue
				}
				return snmpwire.NoError
			})
			return assignField(x, &p.pvid, uint16(v.Int))
		})
	return []object{pvid}
}
