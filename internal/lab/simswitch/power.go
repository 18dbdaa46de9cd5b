package simswitch

import "ctl.internal/internal/lab/snmpwire"

// portPower is the power over Ethernet of a port.
type portPower struct {
	off      bool
	priority int64 // 0: low(3)
}

// The power of the simulated switch: the budget in watts, and what one device draws.
const (
	powerBudget = 370
	deviceDraws = 7
)

const (
	priorityLow     = 3
	notDetected     = 1 // class0(1)
	classThree      = 4
	statusDisabled  = 1
	statusSearching = 2
	statusDelivers  = 3
)

// device reports whether a powered device of class 3 is attached: at the ports with an even number whose link is up.
func (p *port) device() bool {
	return p.carrier && p.number%2 == 0
}

func (p *port) delivers() bool {
	return p.device() && !p.power.off
}

// powerObjects is POWER-ETHERNET-MIB (RFC 3621), with one group of ports; the tables are empty at makes without it.
func powerObjects() []object {
	t := table[*port]{
		at: snmpwire.MustOID("1.3.6.1.2.1.105.1.1.1"),
		count: func(s *Switch) int {
			if !s.cfg.Profile.PoE {
				return 0
			}
			return len(s.ports)
		},
		row: func(s *Switch, i int) *port { return &s.ports[i] },
		index: func(_ *Switch, p *port, dst oid) oid {
			return append(dst, 1, uint32(p.number))
		},
	}
	main := table[struct{}]{
		at: snmpwire.MustOID("1.3.6.1.2.1.105.1.3.1.1"),
		count: func(s *Switch) int {
			if !s.cfg.Profile.PoE {
				return 0
			}
			return 1
		},
		row:   func(*Switch, int) struct{} { return struct{}{} },
		index: func(_ *Switch, _ struct{}, dst oid) oid { return append(dst, 1) },
	}
	return []object{
		t.newWritableColumn(3, "pethPsePortAdminEnable", integerSyntax(1, 2), func(_ *Switch, p *port) value {
			return truthValue(!p.power.off)
		},
			func(_ *Switch, x tx, p *port, v value) status {
				return assignField(x, &p.power.off, v.Int == 2)
			}),
		t.newColumn(6, "pethPsePortDetectionStatus", func(_ *Switch, p *port) value {
			return snmpwire.Int32(p.powerStatus())
		}),
		t.newWritableColumn(7, "pethPsePortPowerPriority", integerSyntax(1, 3), func(_ *Switch, p *port) value {
			if p.power.priority == 0 {
				return snmpwire.Int32(priorityLow)
			}
			return snmpwire.Int32(int(p.power.priority))
		}, func(_ *Switch, x tx, p *port, v value) status {
			return assignField(x, &p.power.priority, v.Int)
		}),
		t.newColumn(10, "pethPsePortPowerClassifications", func(_ *Switch, p *port) value {
			if p.delivers() {
				return snmpwire.Int32(classThree)
			}
			return snmpwire.Int32(notDetected)
		}),
		main.newColumn(2, "pethMainPsePower", constantColumn[struct{}](gaugeValue(powerBudget))),
		main.newColumn(4, "pethMainPseConsumptionPower", func(s *Switch, _ struct{}) value {
			drawn := uint64(0)
			for i := range s.ports {
				if s.ports[i].delivers() {
					drawn += deviceDraws
				}
			}
			return gaugeValue(drawn)
		}),
	}
}

func (p *port) powerStatus() int {
	switch {
	case p.power.off:
		return statusDisabled
	case p.device():
		return statusDelivers
	}
	return statusSearching
}
