package simswitch

import (
	"cmp"
	"slices"

	"ctl.internal/internal/lab/snmpwire"
)

// cdpAt is ciscoCdpMIBObjects of CISCO-CDP-MIB.
const cdpAt = "1.3.6.1.4.1.9.9.23.1."

// cdpRows are the neighbours in the order of cdpCacheTable: ifIndex, then a number.
func (s *Switch) cdpRows() []*nearRow {
	rows := make([]*nearRow, len(s.near))
	for i := range s.near {
		rows[i] = &s.near[i]
	}
	slices.SortFunc(rows, func(a, b *nearRow) int {
		return cmp.Or(cmp.Compare(s.ifIndex(a.port), s.ifIndex(b.port)), cmp.Compare(a.index, b.index))
	})
	return rows
}

// cdpObjects is what a manager needs of CISCO-CDP-MIB. The device id of a switch is
// its name, and ports are named.
func cdpObjects() []object {
	t := table[*nearRow]{
		at:    snmpwire.MustOID(cdpAt + "2.1.1"),
		count: func(s *Switch) int { return len(s.near) },
		row:   func(s *Switch, i int) *nearRow { return s.cdpRows()[i] },
		index: func(s *Switch, r *nearRow, dst oid) oid { return append(dst, s.ifIndex(r.port), r.index) },
	}
	return shown(CDP, []object{
		scalar("cdpGlobalRun", cdpAt+"3.1", func(*Switch) value { return truth(true) }),
		scalar("cdpGlobalDeviceId", cdpAt+"3.4", func(s *Switch) value { return snmpwire.Text(s.name) }),
		t.column(3, "cdpCacheAddressType", always[*nearRow](snmpwire.Int32(1))),
		t.column(4, "cdpCacheAddress", func(_ *Switch, r *nearRow) value {
			if !r.Management.Is4() {
				return snmpwire.Octets(nil)
			}
			a := r.Management.As4()
			return snmpwire.Octets(a[:])
		}),
		t.column(6, "cdpCacheDeviceId", func(_ *Switch, r *nearRow) value { return snmpwire.Text(r.SysName) }),
		t.column(7, "cdpCacheDevicePort", func(_ *Switch, r *nearRow) value { return snmpwire.Text(r.PortDesc) }),
		t.column(8, "cdpCachePlatform", func(_ *Switch, r *nearRow) value { return snmpwire.Text(r.SysDesc) }),
	})
}
