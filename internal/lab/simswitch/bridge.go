package simswitch

import (
	"slices"

	"ctl.internal/internal/lab/snmpwire"
)

// bridgeObjects is dot1dBase and dot1dTp's port table of BRIDGE-MIB (RFC 4188).
func bridgeObjects() []object {
	const at = "1.3.6.1.2.1.17."
	base := portTable(snmpwire.MustOID(at + "1.4.1"))
	tp := portTable(snmpwire.MustOID(at + "4.4.1"))
	zero := always[*port](counter(0))
	return []object{
		scalar("dot1dBaseBridgeAddress", at+"1.1", func(s *Switch) value { return snmpwire.Octets(slices.Clone(s.cfg.MAC[:])) }),
		scalar("dot1dBaseNumPorts", at+"1.2", func(s *Switch) value { return snmpwire.Int32(len(s.ports)) }),
		scalar("dot1dBaseType", at+"1.3", func(*Switch) value { return snmpwire.Int32(2) }),
		base.column(1, "dot1dBasePort", func(_ *Switch, p *port) value { return snmpwire.Int32(p.number) }),
		base.column(2, "dot1dBasePortIfIndex", func(s *Switch, p *port) value { return snmpwire.Int32(int(s.ifIndex(p.number))) }),
		base.column(3, "dot1dBasePortCircuit", always[*port](snmpwire.Object(oid{0, 0}))),
		base.column(4, "dot1dBasePortDelayExceededDiscards", zero),
		base.column(5, "dot1dBasePortMtuExceededDiscards", zero),
		scalar("dot1dTpLearnedEntryDiscards", at+"4.1", func(*Switch) value { return counter(0) }),
		writableScalar("dot1dTpAgingTime", at+"4.2", integer(10, 1000000),
			func(s *Switch) value { return snmpwire.Int32(s.aging) },
			func(s *Switch, t tx, v value) status { return assign(t, &s.aging, int(v.Int)) }),
		tp.column(1, "dot1dTpPort", func(_ *Switch, p *port) value { return snmpwire.Int32(p.number) }),
		tp.column(2, "dot1dTpPortMaxInfo", always[*port](snmpwire.Int32(1500))),
	}
}
