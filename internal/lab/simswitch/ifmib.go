package simswitch

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// ifTable is a table with the ifIndex as index.
func ifTable(at string) table[iface] {
	return table[iface]{
		at:    snmpwire.MustOID(at),
		count: func(s *Switch) int { return len(s.ifs) },
		row:   func(s *Switch, i int) iface { return s.ifs[i] },
		index: func(_ *Switch, i iface, dst oid) oid { return append(dst, i.index) },
	}
}

// isUp returns ifAdminStatus and ifOperStatus; the management interface is always up.
func (s *Switch) isUp(i iface) (admin, oper bool) {
	if p := s.findPort(i.port); p != nil {
		return p.admin, p.isUp()
	}
	return true, true
}

// ifObjects is the interfaces group of IF-MIB (RFC 2863).
func ifObjects() []object {
	t := ifTable("1.3.6.1.2.1.2.2.1")
	col := t.newColumn
	mac := func(s *Switch, i iface) value {
		m := s.portMAC(i.port)
		return snmpwire.Octets(m[:])
	}
	return []object{
		newScalar("ifNumber", "1.3.6.1.2.1.2.1", func(s *Switch) value {
			return snmpwire.Int32(len(s.ifs))
		}),
		col(1, "ifIndex", func(_ *Switch, i iface) value {
			return snmpwire.Int32(int(i.index))
		}),
		col(2, "ifDescr", func(s *Switch, i iface) value {
			return snmpwire.Text(s.cfg.Profile.Model + " " + s.portName(i.port))
		}),
		col(3, "ifType", func(_ *Switch, i iface) value {
			if i.port == 0 {
				return snmpwire.Int32(136) // l3ipvlan
			}
			return snmpwire.Int32(6) // ethernetCsmacd
		}),
		col(4, "ifMtu", constantColumn[iface](snmpwire.Int32(1500))),
		col(5, "ifSpeed", func(s *Switch, i iface) value {
			return gaugeValue(s.interfaceSpeed(i) * 1_000_000)
		}),
		col(6, "ifPhysAddress", mac),
		t.newWritableColumn(7, "ifAdminStatus", integerSyntax(1, 3), func(s *Switch, i iface) value {
			admin, _ := s.isUp(i)
			return truthValue(admin)
		}, setAdminStatus),
		col(8, "ifOperStatus", func(s *Switch, i iface) value {
			_, oper := s.isUp(i)
			return truthValue(oper)
		}),
		col(14, "ifInErrors", func(s *Switch, i iface) value {
			_, errors := s.interfaceCounters(i)
			return snmpwire.Unsigned(snmpwire.Counter32, errors&0xffffffff)
		}),
	}
}

func (s *Switch) interfaceSpeed(i iface) uint64 {
	if _, up := s.isUp(i); up {
		return 1000
	}
	return 0
}

// setAdminStatus refuses testing(3), which the switch cannot do, and any
// change of the interface that the manager talks to.
func setAdminStatus(s *Switch, t tx, i iface, v value) status {
	p := s.findPort(i.port)
	if v.Int == 3 || p == nil && v.Int != 1 {
		return snmpwire.InconsistentValue
	}
	up := v.Int == 1
	if p == nil || p.admin == up {
		return snmpwire.NoError
	}
	assignField(t, &p.admin, up)
	t.Commit(func() {
		s.mu.Lock()
		s.linkChanged(p, p.carrier && !up, p.isUp())
		s.mu.Unlock()
		if s.cfg.PortAdmin != nil {
			s.cfg.PortAdmin(p.number, up)
		}
	})
	return snmpwire.NoError
}

// ifXObjects is the ifXTable of IF-MIB.
func ifXObjects() []object {
	t := ifTable("1.3.6.1.2.1.31.1.1.1")
	col := t.newColumn
	octets := func(s *Switch, i iface) value {
		n, _ := s.interfaceCounters(i)
		return counter64Value(n)
	}
	return []object{
		newScalar("ifTableLastChange", "1.3.6.1.2.1.31.1.5", func(*Switch) value {
			return timeTicksValue(0)
		}),
		col(1, "ifName", func(s *Switch, i iface) value {
			return snmpwire.Text(s.portName(i.port))
		}),
		col(6, "ifHCInOctets", octets), col(10, "ifHCOutOctets", octets),
		col(14, "ifLinkUpDownTrapEnable", func(_ *Switch, i iface) value {
			return truthValue(i.port > 0)
		}),
		col(15, "ifHighSpeed", func(s *Switch, i iface) value {
			return gaugeValue(s.interfaceSpeed(i))
		}),
		t.newWritableColumn(18, "ifAlias", snmpagent.Syntax{
			Tag: snmpwire.OctetString,
			Max: 64,
		}, func(s *Switch, i iface) value {
			if p := s.findPort(i.port); p != nil {
				return snmpwire.Octets(p.alias)
			}
			return snmpwire.Octets(nil)
		}, setAlias),
	}
}

func setAlias(s *Switch, t tx, i iface, v value) status {
	p := s.findPort(i.port)
	if p == nil {
		return snmpwire.InconsistentValue
	}
	return assignField(t, &p.alias, slices.Clone(v.Bytes))
}

// etherObjects is what EtherLike-MIB (RFC 3635) says of a link: full duplex, and PAUSE frames both ways.
func etherObjects() []object {
	const fullDuplex, bothWays, disabled, unknown = 3, 4, 1, 1
	duplex := ifTable("1.3.6.1.2.1.10.7.2.1").newColumn(19, "dot3StatsDuplexStatus", func(s *Switch, i iface) value {
		if s.interfaceSpeed(i) == 0 {
			return snmpwire.Int32(unknown)
		}
		return snmpwire.Int32(fullDuplex)
	})
	pause := ifTable("1.3.6.1.2.1.10.7.10.1").newColumn(2, "dot3PauseOperMode", func(s *Switch, i iface) value {
		if s.interfaceSpeed(i) == 0 {
			return snmpwire.Int32(disabled)
		}
		return snmpwire.Int32(bothWays)
	})
	return []object{duplex, pause}
}

// ipObjects is ipAdEntTable of IP-MIB (RFC 4293, deprecated and everywhere).
func ipObjects() []object {
	t := table[netip.Prefix]{
		at:    snmpwire.MustOID("1.3.6.1.2.1.4.20.1"),
		count: func(*Switch) int { return 1 },
		row:   func(s *Switch, _ int) netip.Prefix { return s.cfg.Address },
		index: func(_ *Switch, p netip.Prefix, dst oid) oid {
			return appendIP(dst, p.Addr())
		},
	}
	return []object{
		t.newColumn(1, "ipAdEntAddr", func(_ *Switch, p netip.Prefix) value {
			return value{
				Tag:   snmpwire.IPAddress,
				Bytes: p.Addr().AsSlice(),
			}
		}),
		t.newColumn(2, "ipAdEntIfIndex", func(s *Switch, _ netip.Prefix) value {
			return snmpwire.Int32(s.cfg.Profile.SVI)
		}),
		t.newColumn(3, "ipAdEntNetMask", func(_ *Switch, p netip.Prefix) value {
			return value{
				Tag:   snmpwire.IPAddress,
				Bytes: net.CIDRMask(p.Bits(), 32),
			}
		}),
	}
}

func appendIP(dst oid, a netip.Addr) oid {
	for _, b := range a.As4() {
		dst = append(dst, uint32(b))
	}
	return dst
}

// traffic is what passes a port besides the little that always does.
type traffic struct {
	bits, errors    uint64 // a second, since at
	octets, counted uint64 // octets and errors until at
	at              uint32 // sysUpTime
}

func (f traffic) countersUntil(now uint32) (octets, errors uint64) {
	ticks := uint64(now - f.at)
	return f.octets + f.bits*ticks/800, f.counted + f.errors*ticks/100
}

// SetTraffic says how much passes a port from now on, in bits a second each way, and how
// many of the frames that come in are faulty, a second.
func (s *Switch) SetTraffic(number int, bits, errors uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.findPort(number)
	if p == nil {
		return fmt.Errorf("switch %s has ports 1 to %d, not %d", s.name, len(s.ports), number)
	}
	now := s.UpTime()
	octets, counted := p.traffic.countersUntil(now)
	p.traffic = traffic{bits, errors, octets, counted, now}
	return nil
}

// interfaceCounters are the octets each way and the faulty frames that an interface has counted.
func (s *Switch) interfaceCounters(i iface) (octets, errors uint64) {
	now := s.UpTime()
	if p := s.findPort(i.port); p != nil {
		octets, errors = p.traffic.countersUntil(now)
	}
	return octets + uint64(now)*10*uint64(i.port+1), errors
}
