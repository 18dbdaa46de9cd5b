package simswitch

import (
	"encoding/binary"
	"slices"

	"ctl.internal/internal/lab/snmpwire"
)

// PortState is dot1dStpPortState.
type PortState int

// The values of dot1dStpPortState.
const (
	Disabled   PortState = 1
	Blocking   PortState = 2
	Listening  PortState = 3
	Learning   PortState = 4
	Forwarding PortState = 5
	Broken     PortState = 6
)

// BridgeID is a bridge's priority and address, as in dot1dStpDesignatedRoot.
type BridgeID [8]byte

func bridgeID(priority uint16, mac MAC) BridgeID {
	var id BridgeID
	binary.BigEndian.PutUint16(id[:], priority)
	copy(id[2:], mac[:])
	return id
}

func (b BridgeID) octets() value { return snmpwire.Octets(slices.Clone(b[:])) }

type stp struct {
	priority uint16
	tree     Tree
}

// stpPort is dot1dStpPort. designated is who sends on the segment.
type stpPort struct {
	enable   bool
	priority uint8
	cost     int32
	state    PortState
	bridge   BridgeID
	farCost  int
	far      uint16 // dot1dStpPortDesignatedPort
}

// Tree is what the spanning tree algorithm of the network found for a switch.
type Tree struct {
	Root     BridgeID
	Cost     int
	RootPort int // 0: this is the root
}

// TreePort is what it found for a port.
type TreePort struct {
	State  PortState
	Bridge BridgeID // designated bridge
	Port   int      // designated port
	Cost   int      // of the designated bridge to the root
}

func newSTP(mac MAC) stp {
	return stp{priority: 32768, tree: Tree{Root: bridgeID(32768, mac)}}
}

func newSTPPort() stpPort { return stpPort{enable: true, priority: 128, cost: 20000, state: Disabled} }

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
	p := s.port(number)
	return p != nil && p.stp.enable
}

// SetSTPEnabled sets dot1dStpPortEnable of a port, as a command line does.
func (s *Switch) SetSTPEnabled(number int, on bool) {
	s.mu.Lock()
	p := s.port(number)
	if p != nil {
		p.stp.enable = on
	}
	s.mu.Unlock()
	if p != nil {
		s.treeSet()
	}
}

// PathCost returns dot1dStpPortPathCost of a port, 0 when there is no such port.
func (s *Switch) PathCost(number int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.port(number); p != nil {
		return int(p.stp.cost)
	}
	return 0
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
func (s *Switch) SetTree(t Tree, ports map[int]TreePort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stp.tree = t
	own := bridgeID(s.stp.priority, s.cfg.MAC)
	for i := range s.ports {
		p := &s.ports[i]
		want, ok := ports[p.number]
		if !ok {
			want = TreePort{Forwarding, own, p.number, t.Cost}
		}
		if !p.up() {
			want.State = Disabled
		}
		if p.stp.state == Forwarding && want.State != Forwarding {
			s.flush(func(r fdbRow) bool { return int(r.port) == p.number })
		}
		p.stp.farCost = want.Cost
		p.stp.state, p.stp.bridge, p.stp.far = want.State, want.Bridge, uint16(p.stp.priority)<<8|uint16(want.Port)
	}
}

// stpObjects is dot1dStp of BRIDGE-MIB.
func stpObjects() []object {
	const at = "1.3.6.1.2.1.17.2."
	return []object{
		writableScalar("dot1dStpPriority", at+"2", integer(0, 65535),
			func(s *Switch) value { return snmpwire.Int32(int(s.stp.priority)) },
			func(s *Switch, t tx, v value) status {
				t.Commit(s.treeSet)
				return assign(t, &s.stp.priority, uint16(v.Int))
			}),
		scalar("dot1dStpDesignatedRoot", at+"5", func(s *Switch) value { return s.stp.tree.Root.octets() }),
		scalar("dot1dStpRootCost", at+"6", func(s *Switch) value { return snmpwire.Int32(s.stp.tree.Cost) }),
		scalar("dot1dStpRootPort", at+"7", func(s *Switch) value { return snmpwire.Int32(s.stp.tree.RootPort) }),
	}
}

// stpPortObjects is dot1dStpPortTable.
func stpPortObjects() []object {
	t := portTable(snmpwire.MustOID("1.3.6.1.2.1.17.2.15.1"))
	return []object{
		t.column(1, "dot1dStpPort", func(_ *Switch, p *port) value { return snmpwire.Int32(p.number) }),
		t.writable(2, "dot1dStpPortPriority", integer(0, 255),
			func(_ *Switch, p *port) value { return snmpwire.Int32(int(p.stp.priority)) },
			func(_ *Switch, x tx, p *port, v value) status { return assign(x, &p.stp.priority, uint8(v.Int)) }),
		t.column(3, "dot1dStpPortState", func(_ *Switch, p *port) value {
			switch {
			case !p.up():
				return snmpwire.Int32(int(Disabled))
			case !p.stp.enable: // the port takes no part: it forwards whatever the tree says
				return snmpwire.Int32(int(Forwarding))
			}
			return snmpwire.Int32(int(p.stp.state))
		}),
		t.writable(4, "dot1dStpPortEnable", integer(1, 2), func(_ *Switch, p *port) value { return truth(p.stp.enable) },
			func(s *Switch, x tx, p *port, v value) status {
				x.Commit(s.treeSet)
				return assign(x, &p.stp.enable, v.Int == 1)
			}),
		t.writable(5, "dot1dStpPortPathCost", integer(1, 65535), func(_ *Switch, p *port) value { return snmpwire.Int32(int(p.stp.cost)) },
			func(s *Switch, x tx, p *port, v value) status {
				x.Commit(s.treeSet)
				return assign(x, &p.stp.cost, int32(v.Int))
			}),
		t.column(6, "dot1dStpPortDesignatedRoot", func(s *Switch, _ *port) value { return s.stp.tree.Root.octets() }),
		t.column(7, "dot1dStpPortDesignatedCost", func(_ *Switch, p *port) value { return snmpwire.Int32(p.stp.farCost) }),
		t.column(8, "dot1dStpPortDesignatedBridge", func(_ *Switch, p *port) value { return p.stp.bridge.octets() }),
		t.column(9, "dot1dStpPortDesignatedPort", func(_ *Switch, p *port) value {
			return snmpwire.Octets([]byte{byte(p.stp.far >> 8), byte(p.stp.far)})
		}),
	}
}
