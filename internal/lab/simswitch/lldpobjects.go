package simswitch

import (
	"ctl.internal/internal/lab/snmpwire"
)

// lldpObjects of LLDP-MIB (IEEE 802.1AB-2005), and lldpV2Objects of LLDP-V2-MIB (IEEE 802.1AB-2016).
const (
	lldpAt   = "1.0.8802.1.1.2.1."
	lldpV2At = "1.3.111.2.802.1.1.13.1."
)

// nearestBridge is the row of lldpV2DestAddressTable that neighbours are found by:
// 01-80-C2-00-00-0E.
const nearestBridge = 1

// lldpObjects is LLDP-MIB, or LLDP-V2-MIB: the same data with ifIndexes for ports, the
// destination address in the index of neighbours, and their columns one further.
func lldpObjects(v2 bool) []object {
	at := lldpAt
	first := uint32(4)
	local := (*Switch).lldpPort
	index := func(_ *Switch, r *nearRow, dst oid) oid {
		return append(dst, r.mark, r.local, r.index)
	}
	if v2 {
		at, first, local = lldpV2At, 5, (*Switch).ifIndex
		// Neighbours stand in the order of their mark and local port, and the ifIndex grows with it.
		index = func(s *Switch, r *nearRow, dst oid) oid {
			return append(dst, r.mark, s.ifIndex(r.port), nearestBridge, r.index)
		}
	}
	ports := portTable(snmpwire.MustOID(at + "3.7.1"))
	ports.index = func(s *Switch, p *port, dst oid) oid {
		return append(dst, local(s, p.number))
	}
	near := table[*nearRow]{
		at:    snmpwire.MustOID(at + "4.1.1"),
		count: func(s *Switch) int { return len(s.near) },
		row:   func(s *Switch, i int) *nearRow { return &s.near[i] },
		index: index,
	}
	addresses := table[*nearRow]{
		at:    snmpwire.MustOID(at + "4.2.1"),
		count: func(s *Switch) int { return len(s.advertisingNeighbors()) },
		row:   func(s *Switch, i int) *nearRow { return s.advertisingNeighbors()[i] },
		index: func(s *Switch, r *nearRow, dst oid) oid {
			return appendIP(append(index(s, r, dst), 1, 4), r.Management)
		},
	}
	text := func(f func(r *nearRow) string) func(*Switch, *nearRow) value {
		return func(_ *Switch, r *nearRow) value { return snmpwire.Text(f(r)) }
	}
	number := func(f func(r *nearRow) int) func(*Switch, *nearRow) value {
		return func(_ *Switch, r *nearRow) value { return snmpwire.Int32(f(r)) }
	}
	return []object{
		newScalar("lldpStatsRemTablesLastChangeTime", at+"2.1", func(s *Switch) value {
			return timeTicksValue(s.lldp.changed)
		}),
		newScalar("lldpLocChassisIdSubtype", at+"3.1", func(*Switch) value {
			return snmpwire.Int32(4)
		}),
		newScalar("lldpLocChassisId", at+"3.2", func(s *Switch) value {
			return snmpwire.Octets(s.chassisID())
		}),
		newScalar("lldpLocSysName", at+"3.3", func(s *Switch) value {
			return snmpwire.Text(s.name)
		}),
		newScalar("lldpLocSysDesc", at+"3.4", func(s *Switch) value {
			return snmpwire.Text(s.cfg.Profile.Descr)
		}),
		ports.newColumn(2, "lldpLocPortIdSubtype", func(s *Switch, p *port) value {
			subtype, _ := s.portID(p.number)
			return snmpwire.Int32(subtype)
		}),
		ports.newColumn(3, "lldpLocPortId", func(s *Switch, p *port) value {
			_, id := s.portID(p.number)
			return snmpwire.Octets(id)
		}),
		ports.newColumn(4, "lldpLocPortDesc", func(s *Switch, p *port) value {
			return snmpwire.Text(s.portName(p.number))
		}),
		near.newColumn(
			first,
			"lldpRemChassisIdSubtype",
			number(func(r *nearRow) int { return r.ChassisSubtype }),
		),
		near.newColumn(first+1, "lldpRemChassisId", func(_ *Switch, r *nearRow) value {
			return snmpwire.Octets(r.Chassis)
		}),
		near.newColumn(
			first+2,
			"lldpRemPortIdSubtype",
			number(func(r *nearRow) int { return r.PortSubtype }),
		),
		near.newColumn(first+3, "lldpRemPortId", func(_ *Switch, r *nearRow) value {
			return snmpwire.Octets(r.Port)
		}),
		near.newColumn(
			first+4,
			"lldpRemPortDesc",
			text(func(r *nearRow) string { return r.PortDesc }),
		),
		near.newColumn(
			first+5,
			"lldpRemSysName",
			text(func(r *nearRow) string { return r.SysName }),
		),
		near.newColumn(
			first+6,
			"lldpRemSysDesc",
			text(func(r *nearRow) string { return r.SysDesc }),
		),
		addresses.newColumn(
			3,
			"lldpRemManAddrIfSubtype",
			constantColumn[*nearRow](snmpwire.Int32(2)),
		),
	}
}

// advertisingNeighbors are the neighbours that send an IPv4 management address.
func (s *Switch) advertisingNeighbors() []*nearRow {
	rows := make([]*nearRow, 0, len(s.near))
	for i := range s.near {
		if s.near[i].Management.Is4() {
			rows = append(rows, &s.near[i])
		}
	}
	return rows
}
