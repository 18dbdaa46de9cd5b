package simswitch

import "ctl.internal/internal/lab/snmpwire"

// lldpV2At is lldpV2Objects of LLDP-V2-MIB (IEEE 802.1AB-2016).
const lldpV2At = "1.3.111.2.802.1.1.13.1."

// nearestBridge is the row of lldpV2DestAddressTable that neighbours are found by:
// 01-80-C2-00-00-0E.
const nearestBridge = 1

// lldpV2Objects is the same data as LLDP-MIB's, with ifIndexes for ports and the
// destination address in the index of neighbours.
func lldpV2Objects() []object {
	ports := portTable(snmpwire.MustOID(lldpV2At + "3.7.1"))
	ports.index = func(s *Switch, p *port, dst oid) oid { return append(dst, s.ifIndex(p.number)) }
	// Neighbours stand in the order of their mark and local port, and the ifIndex
	// grows with it.
	near := table[*nearRow]{
		at:    snmpwire.MustOID(lldpV2At + "4.1.1"),
		count: func(s *Switch) int { return len(s.near) },
		row:   func(s *Switch, i int) *nearRow { return &s.near[i] },
		index: func(s *Switch, r *nearRow, dst oid) oid {
			return append(dst, r.mark, s.ifIndex(r.port), nearestBridge, r.index)
		},
	}
	mgmt := near
	mgmt.at = snmpwire.MustOID(lldpV2At + "4.2.1")
	mgmt.index = func(s *Switch, r *nearRow, dst oid) oid {
		dst = append(dst, r.mark, s.ifIndex(r.port), nearestBridge, r.index)
		if r.Management.Is4() {
			return appendIP(append(dst, 1, 4), r.Management)
		}
		return append(dst, 0, 0)
	}
	text := func(f func(r *nearRow) string) func(*Switch, *nearRow) value {
		return func(_ *Switch, r *nearRow) value { return snmpwire.Text(f(r)) }
	}
	number := func(f func(r *nearRow) int) func(*Switch, *nearRow) value {
		return func(_ *Switch, r *nearRow) value { return snmpwire.Int32(f(r)) }
	}
	return shown(LLDPV2, []object{
		scalar("lldpV2StatsRemTablesLastChangeTime", lldpV2At+"2.1", func(s *Switch) value { return ticks(s.lldp.changed) }),
		scalar("lldpV2LocChassisIdSubtype", lldpV2At+"3.1", func(*Switch) value { return snmpwire.Int32(4) }),
		scalar("lldpV2LocChassisId", lldpV2At+"3.2", func(s *Switch) value { return snmpwire.Octets(s.chassis()) }),
		scalar("lldpV2LocSysName", lldpV2At+"3.3", func(s *Switch) value { return snmpwire.Text(s.name) }),
		ports.column(2, "lldpV2LocPortIdSubtype", func(s *Switch, p *port) value {
			subtype, _ := s.portID(p.number)
			return snmpwire.Int32(subtype)
		}),
		ports.column(3, "lldpV2LocPortId", func(s *Switch, p *port) value {
			_, id := s.portID(p.number)
			return snmpwire.Octets(id)
		}),
		ports.column(4, "lldpV2LocPortDesc", func(s *Switch, p *port) value { return snmpwire.Text(s.portName(p.number)) }),
		near.column(5, "lldpV2RemChassisIdSubtype", number(func(r *nearRow) int { return r.ChassisSubtype })),
		near.column(6, "lldpV2RemChassisId", func(_ *Switch, r *nearRow) value { return snmpwire.Octets(r.Chassis) }),
		near.column(7, "lldpV2RemPortIdSubtype", number(func(r *nearRow) int { return r.PortSubtype })),
		near.column(8, "lldpV2RemPortId", func(_ *Switch, r *nearRow) value { return snmpwire.Octets(r.Port) }),
		near.column(9, "lldpV2RemPortDesc", text(func(r *nearRow) string { return r.PortDesc })),
		near.column(10, "lldpV2RemSysName", text(func(r *nearRow) string { return r.SysName })),
		near.column(11, "lldpV2RemSysDesc", text(func(r *nearRow) string { return r.SysDesc })),
		advertised(10, mgmt.column(3, "lldpV2RemManAddrIfSubtype", always[*nearRow](snmpwire.Int32(2)))),
	})
}
