package simswitch

import (
	"ctl.internal/internal/lab/snmpwire"
)

// lldpLocalObjects is lldpLocalSystemData.
func lldpLocalObjects() []object {
	ports := portTable(snmpwire.MustOID(lldpAt + "3.7.1"))
	ports.index = func(s *Switch, p *port, dst oid) oid { return append(dst, s.lldpPort(p.number)) }
	return []object{
		scalar("lldpLocChassisIdSubtype", lldpAt+"3.1", func(*Switch) value { return snmpwire.Int32(4) }),
		scalar("lldpLocChassisId", lldpAt+"3.2", func(s *Switch) value { return snmpwire.Octets(s.chassis()) }),
		scalar("lldpLocSysName", lldpAt+"3.3", func(s *Switch) value { return snmpwire.Text(s.name) }),
		scalar("lldpLocSysDesc", lldpAt+"3.4", func(s *Switch) value { return snmpwire.Text(s.cfg.Profile.Descr) }),
		ports.column(2, "lldpLocPortIdSubtype", func(s *Switch, p *port) value {
			subtype, _ := s.portID(p.number)
			return snmpwire.Int32(subtype)
		}),
		ports.column(3, "lldpLocPortId", func(s *Switch, p *port) value {
			_, id := s.portID(p.number)
			return snmpwire.Octets(id)
		}),
		ports.column(4, "lldpLocPortDesc", func(s *Switch, p *port) value { return snmpwire.Text(s.portName(p.number)) }),
	}
}

// lldpRemoteObjects is lldpRemoteSystemsData.
func lldpRemoteObjects() []object {
	t := table[*nearRow]{
		at:    snmpwire.MustOID(lldpAt + "4.1.1"),
		count: func(s *Switch) int { return len(s.near) },
		row:   func(s *Switch, i int) *nearRow { return &s.near[i] },
		index: func(_ *Switch, r *nearRow, dst oid) oid { return append(dst, r.mark, r.local, r.index) },
	}
	mgmt := t
	mgmt.at = snmpwire.MustOID(lldpAt + "4.2.1")
	mgmt.index = func(_ *Switch, r *nearRow, dst oid) oid {
		dst = append(dst, r.mark, r.local, r.index)
		if r.Management.Is4() {
			return appendIP(append(dst, 1, 4), r.Management)
		}
		return append(dst, 0, 0) // not advertised; Get hides it
	}
	text := func(f func(r *nearRow) string) func(*Switch, *nearRow) value {
		return func(_ *Switch, r *nearRow) value { return snmpwire.Text(f(r)) }
	}
	number := func(f func(r *nearRow) int) func(*Switch, *nearRow) value {
		return func(_ *Switch, r *nearRow) value { return snmpwire.Int32(f(r)) }
	}
	return []object{
		t.column(4, "lldpRemChassisIdSubtype", number(func(r *nearRow) int { return r.ChassisSubtype })),
		t.column(5, "lldpRemChassisId", func(_ *Switch, r *nearRow) value { return snmpwire.Octets(r.Chassis) }),
		t.column(6, "lldpRemPortIdSubtype", number(func(r *nearRow) int { return r.PortSubtype })),
		t.column(7, "lldpRemPortId", func(_ *Switch, r *nearRow) value { return snmpwire.Octets(r.Port) }),
		t.column(8, "lldpRemPortDesc", text(func(r *nearRow) string { return r.PortDesc })),
		t.column(9, "lldpRemSysName", text(func(r *nearRow) string { return r.SysName })),
		t.column(10, "lldpRemSysDesc", text(func(r *nearRow) string { return r.SysDesc })),
		advertised(9, mgmt.column(3, "lldpRemManAddrIfSubtype", always[*nearRow](snmpwire.Int32(2)))),
	}
}

// advertised hides management addresses that neighbours did not advertise: their index is
// shorter than arcs.
func advertised(arcs int, o object) object {
	get := o.Get
	o.Get = func(s *Switch, inst oid) (value, bool) {
		if len(inst) < arcs {
			return value{}, false
		}
		return get(s, inst)
	}
	next := o.Next
	o.Next = func(s *Switch, after, dst oid) (oid, bool) {
		base := len(dst)
		for {
			found, ok := next(s, after, dst[:base])
			if !ok || len(found)-base >= arcs {
				return found, ok
			}
			after = append(oid(nil), found[base:]...)
		}
	}
	return o
}
