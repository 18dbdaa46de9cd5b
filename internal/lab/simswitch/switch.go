// Package simswitch models an Ethernet switch with the MIBs that controllers
// read and write: SNMPv2-MIB system, IF-MIB, ipNetToMedia, BRIDGE-MIB,
// Q-BRIDGE-MIB and LLDP-MIB. Every value is computed from the model when it is
// asked for, so a switch of 48 ports takes some kilobytes.
//
// The model acts: a VLAN that becomes active shows up in the current table, a
// port that goes down loses its neighbours and learned addresses. What joins
// switches to each other is package network; who answers on the wire is
// package snmpagent.
package simswitch

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// MAC is an Ethernet address.
type MAC [6]byte

// String returns the colon form in lower case.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// MaxPorts bounds the ports of a switch.
const MaxPorts = 1024

// Config says what a switch is at its start.
type Config struct {
	Name    string
	MAC     MAC
	Address netip.Prefix // management address, IPv4, with the length of its subnet
	Ports   int          // 1 to MaxPorts
	Profile Profile      // zero value: the default one
	// Discovery is how it shows its neighbours; empty: LLDP.
	Discovery Discovery
	Clock     func() time.Time
	UpTime    time.Duration // sysUpTime at New
	// PortAdmin is called when SNMP has changed ifAdminStatus, with the
	// switch unlocked and before the answer is sent.
	PortAdmin func(port int, up bool)
	// TreeSet is called in the same way when SNMP has changed what the
	// spanning tree depends on.
	TreeSet func()
}

// Switch is the model. Its methods may be called at the same time.
type Switch struct {
	cfg   Config
	since atomic.Int64 // when sysUpTime was 0, Unix nanoseconds

	mu      sync.Mutex
	scratch snmpwire.OID
	name    string
	ports   []port
	ifs     []iface // in the order of ifIndex
	vlans   []*vlan // in the order of their ids
	active  []*vlan // see current; nil: not known
	fdb     []fdbRow
	statics []staticRow
	near    []nearRow
	arp     []arpRow
	stp     stp
	lldp    lldpStats
}

// New makes a switch: all ports admin up, without a link, untagged in VLAN 1.
func New(cfg Config) (*Switch, error) {
	if cfg.Ports < 1 || cfg.Ports > MaxPorts {
		return nil, fmt.Errorf(
			"switch %s: %d ports; 1 to %d are possible",
			cfg.Name,
			cfg.Ports,
			MaxPorts,
		)
	}
	if !cfg.Address.Addr().Is4() {
		return nil, fmt.Errorf(
			"switch %s: the management address %s is not IPv4",
			cfg.Name,
			cfg.Address,
		)
	}
	if cfg.Discovery = cmp.Or(cfg.Discovery, LLDP); !slices.Contains(Discoveries(), cfg.Discovery) {
		return nil, fmt.Errorf(
			"switch %s: neighbours cannot be shown by %.20q; one of %v is possible",
			cfg.Name,
			cfg.Discovery,
			Discoveries(),
		)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Profile.Model == "" {
		cfg.Profile = Profiles()[0]
	}
	cfg.Profile.SVI = cmp.Or(cfg.Profile.SVI, 5121)
	n := cfg.Profile.PortListLen
	if n > 0 && n*8 < cfg.Ports {
		return nil, fmt.Errorf(
			"switch %s: model %s has room for %d ports",
			cfg.Name,
			cfg.Profile.Model,
			n*8,
		)
	}
	s := &Switch{cfg: cfg, name: cfg.Name}
	s.since.Store(cfg.Clock().Add(-cfg.UpTime).UnixNano())
	s.makePorts()
	s.stp = stp{priority: 32768, root: bridgeID(32768, cfg.MAC)}
	all := s.emptyPortList()
	for p := 1; p <= cfg.Ports; p++ {
		setBit(all, p, true)
	}
	s.vlans = []*vlan{{
		id:        1,
		name:      "default",
		status:    active,
		egress:    s.withTail(all),
		untagged:  all,
		forbidden: s.emptyPortList(),
		created:   s.UpTime(),
	}}
	return s, nil
}

// MIB returns the view of the switch that an agent serves. One schema, from
// NewSchema, serves all switches that show their neighbours in the same way.
func (s *Switch) MIB(schema *snmpagent.Schema[*Switch]) snmpagent.MIB {
	return schema.Bind(s, &s.mu)
}

// Name returns the name the switch was made with.
func (s *Switch) Name() string { return s.cfg.Name }

// MAC returns the bridge address.
func (s *Switch) MAC() MAC { return s.cfg.MAC }

// Profile returns the make of the switch.
func (s *Switch) Profile() Profile { return s.cfg.Profile }

// ObjectID returns sysObjectID.
func (s *Switch) ObjectID() snmpwire.OID {
	return snmpwire.MustOID(s.cfg.Profile.ObjectID)
}

// UpTime returns sysUpTime, hundredths of a second. It may be called locked or not.
func (s *Switch) UpTime() uint32 {
	return uint32((s.cfg.Clock().UnixNano() - s.since.Load()) / int64(10*time.Millisecond))
}

// Restart does what a power cycle does: sysUpTime starts at 0, what was
// learned is gone. What was configured is kept, as if it had been saved.
func (s *Switch) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since.Store(s.cfg.Clock().UnixNano())
	s.near, s.lldp = nil, lldpStats{}
	for i := range s.ports {
		s.ports[i].traffic = traffic{
			bits:   s.ports[i].traffic.bits,
			errors: s.ports[i].traffic.errors,
		}
	}
	s.flushLearned(func(fdbRow) bool { return true })
	s.arp = slices.DeleteFunc(s.arp, func(r arpRow) bool { return r.kind == arpDynamic })
}

// Address returns the management address.
func (s *Switch) Address() netip.Prefix { return s.cfg.Address }
