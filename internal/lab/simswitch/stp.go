package simswitch

import (
	"encoding/binary"
	"slices"

	"ctl.internal/internal/lab/snmpwire"
)

// PortState is dot1dStpPortState.
type PortState int

// The values of dot1dStpPortState that the ports have.
const (
	Disabled   PortState = 1
	Blocking   PortState = 2
	Forwarding PortState = 5
)

// BridgeID is a bridge's priority and address, as in dot1dStpDesignatedRoot.
type BridgeID [8]byte

func bridgeID(priority uint16, mac MAC) BridgeID {
	var id BridgeID
	binary.BigEndian.PutUint16(id[:], priority)
	copy(id[2:], mac[:])
	return id
}

func (b BridgeID) octets() value {
	return snmpwire.Octets(slices.Clone(b[:]))
}

type stp struct {
	priority uint16
	root     BridgeID
}

// stpPort is dot1dStpPort. bridge and far are who sends on the segment.
type stpPort struct {
	enable bool
	state  PortState
	bridge BridgeID
	far    uint16 // dot1dStpPortDesignatedPort
}

// portPriority is dot1dStpPortPriority, the upper half of dot1dStpPortDesignatedPort.
const portPriority = 128

// TreePort is what the spanning tree algorithm of the network found for a port.
type TreePort struct {
	State  PortState
	Bridge BridgeID // designated bridge
	Port   int      // designated port
}

// BridgeID returns the switch's own.
func (s *Switch) BridgeID() BridgeID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bridgeID(s.stp.priority, s.cfg.MAC)
}

// STPEnabled returns dot1dStpPortEnable of a port.
func (s *Switch) STPEnabled(number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.findPort(number)
	return p != nil && p.stp.enable
}

// SetSTPEnabled sets dot1dStpPortEnable of a port, as a command line does.
func (s *Switch) SetSTPEnabled(number int, on bool) {
	s.mu.Lock()
	p := s.findPort(number)
	if p != nil {
		p.stp.enable = on
	}
	s.mu.Unlock()
	if p != nil {
		s.treeSet()
	}
}

// treeSet informs the network that SNMP has changed what the tree depends on.
func (s *Switch) treeSet() {
	if s.cfg.TreeSet != nil {
		s.cfg.TreeSet()
	}
}

// SetTree gives the switch its place in the spanning tree. ports is indexed by
// port number; ports that are not in it forward when up. A port that leaves
// forwarding loses its learned addresses.
func (s *Switch) SetTree(root BridgeID, ports map[int]TreePort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stp.root = root
	own := bridgeID(s.stp.priority, s.cfg.MAC)
	for i := range s.ports {
		p := &s.ports[i]
		want, ok := ports[p.number]
		if !ok {
			want = TreePort{Forwarding, own, p.number}
		}
		if !p.isUp() {
			want.State = Disabled
		}
		if p.stp.state == Forwarding && want.State != Forwarding {
			s.flushLearned(func(r fdbRow) bool { return int(r.port) == p.number })
		}
		p.stp.state, p.stp.bridge, p.stp.far = want.State, want.Bridge, portPriority<<8|uint16(want.Port)
	}
}

// stpObjects is dot1dStp of BRIDGE-MIB.
func stpObjects() []object {
	const at = "1.3.6.1.2.1.17.2."
	return []object{
		writableScalar("dot1dStpPriority", at+"2", integerSyntax(0, 65535),
			func(s *Switch) value { return snmpwire.Int32(int(s.stp.priority)) },
			func(s *Switch, t tx, v value) status {
				t.Commit(s.treeSet)
				return assignField(t, &s.stp.priority, uint16(v.Int))
			}),
		newScalar("dot1dStpDesignatedRoot", at+"5", func(s *Switch) value {
			return s.stp.root.octets()
		}),
	}
}

// stpPortObjects is dot1dStpPortTable.
func stpPortObjects() []object {
	t := portTable(snmpwire.MustOID("1.3.6.1.2.1.17.2.15.1"))
	return []object{
		t.newColumn(1, "dot1dStpPort", func(_ *Switch, p *port) value {
			return snmpwire.Int32(p.number)
		}),
		t.newColumn(3, "dot1dStpPortState", func(_ *Switch, p *port) value {
			switch {
			case !p.isUp():
				return snmpwire.Int32(int(Disabled))
			case !p.stp.enable: // the port takes no part: it forwards whatever the tree says
				return snmpwire.Int32(int(Forwarding))
			}
			return snmpwire.Int32(int(p.stp.state))
		}),
		t.newWritableColumn(4, "dot1dStpPortEnable", integerSyntax(1, 2), func(_ *Switch, p *port) value {
			return truthValue(p.stp.enable)
		},
			func(s *Switch, x tx, p *port, v value) status {
				x.Commit(s.treeSet)
				return assignField(x, &p.stp.enable, v.Int == 1)
			}),
		t.newColumn(6, "dot1dStpPortDesignatedRoot", func(s *Switch, _ *port) value {
			return s.stp.root.octets()
		}),
		t.newColumn(8, "dot1dStpPortDesignatedBridge", func(_ *Switch, p *port) value {
			return p.stp.bridge.octets()
		}),
		t.newColumn(9, "dot1dStpPortDesignatedPort", func(_ *Switch, p *port) value {
			return snmpwire.Octets([]byte{byte(p.stp.far >> 8), byte(p.stp.far)})
		}),
	}
}
