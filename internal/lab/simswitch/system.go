package simswitch

import (
	"slices"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// systemObjects is the system group of SNMPv2-MIB (RFC 3418).
func systemObjects() []object {
	const at = "1.3.6.1.2.1.1."
	return []object{
		newScalar("sysDescr", at+"1", func(s *Switch) value {
			return snmpwire.Text(s.cfg.Profile.Descr)
		}),
		newScalar("sysObjectID", at+"2", func(s *Switch) value {
			return snmpwire.Object(s.ObjectID())
		}),
		newScalar("sysUpTime", at+"3", func(s *Switch) value {
			return timeTicksValue(s.UpTime())
		}),
		writableScalar("sysName", at+"5", snmpagent.Syntax{
			Tag: snmpwire.OctetString,
			Max: 255,
		},
			func(s *Switch) value { return snmpwire.Text(s.name) },
			func(s *Switch, t tx, v value) status {
				return assignField(t, &s.name, string(v.Bytes))
			}),
	}
}

// bridgeObjects is dot1dBase of BRIDGE-MIB (RFC 4188).
func bridgeObjects() []object {
	const at = "1.3.6.1.2.1.17."
	base := portTable(snmpwire.MustOID(at + "1.4.1"))
	return []object{
		newScalar("dot1dBaseBridgeAddress", at+"1.1", func(s *Switch) value {
			return snmpwire.Octets(slices.Clone(s.cfg.MAC[:]))
		}),
		newScalar("dot1dBaseNumPorts", at+"1.2", func(s *Switch) value {
			return snmpwire.Int32(len(s.ports))
		}),
		base.newColumn(1, "dot1dBasePort", func(_ *Switch, p *port) value {
			return snmpwire.Int32(p.number)
		}),
		base.newColumn(2, "dot1dBasePortIfIndex", func(s *Switch, p *port) value {
			return snmpwire.Int32(int(s.ifIndex(p.number)))
		}),
	}
}
