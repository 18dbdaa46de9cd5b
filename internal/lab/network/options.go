package network

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
)

// Options say what a network is. The zero value of each field but Topology has a use.
type Options struct {
	Topology string // see Topologies
	Ports    int    // of each switch; 0 = 24
	// Listen is where the agents listen. A single address (127.0.0.1, the
	// default) gives each a port of its own: BasePort, BasePort+1 … or any free
	// ones when BasePort is 0. A network as 127.1.0.0/16 gives each an address
	// of its own, from .0.1 on, at port BasePort (0 = 1161).
	Listen   netip.Prefix
	BasePort int
	Models   []string // profiles that the switches take in turn; none = the default one

	// Discovery is how the switches show their neighbours, taken in turn; none = LLDP.
	// With a mute switch among them, the switches' own addresses are learned too.
	Discovery []simswitch.Discovery

	V3         bool // version 3 instead of 2c
	MaxMessage int  // of the agents, octets; 0 = snmpagent.DefaultMaxMessage

	Hosts   int // stations at each switch, on its last ports; -1 = none, 0 = 2
	FDB     int // addresses that the first switch knows besides, in both its tables
	Targets []snmpagent.Target
	Clock   func() time.Time
}

// How all agents are read and written, as the switch list says.
const (
	readCommunity, writeCommunity        = "public", "private"
	userName, authProtocol, privProtocol = "ops", gosnmp.SHA256, gosnmp.AES // version 3
	authPassword, privPassword           = "authpass123", "privpass123"
)

// upTime is that of the switches at their start.
const upTime = time.Hour

func (o *Options) setDefaults() error {
	o.Ports, o.Hosts = cmp.Or(o.Ports, 24), cmp.Or(o.Hosts, 2)
	if !o.Listen.IsValid() {
		o.Listen = netip.MustParsePrefix("127.0.0.1/32")
	}
	if !o.Listen.Addr().Is4() || !o.Listen.Addr().IsLoopback() {
		return fmt.Errorf("listen %s: only IPv4 loopback addresses are allowed", o.Listen)
	}
	if o.BasePort < 0 || o.BasePort > 65535 {
		return fmt.Errorf("base port %d: 0 to 65535 are possible", o.BasePort)
	}
	if o.BasePort == 0 && !o.hasSingleAddress() {
		o.BasePort = 1161
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return nil
}

// hasSingleAddress reports whether all agents share one address.
func (o *Options) hasSingleAddress() bool {
	return o.Listen.Bits() == 32
}

// agentEndpoint is where the agent of switch i, from 0, listens.
func (o *Options) agentEndpoint(i int) (netip.AddrPort, error) {
	if o.hasSingleAddress() {
		port := o.BasePort
		if port != 0 {
			if port += i; port > 65535 {
				return netip.AddrPort{}, errors.New("the ports end at 65535: lower the base port, or listen on a network as 127.1.0.0/16")
			}
		}
		return netip.AddrPortFrom(o.Listen.Addr(), uint16(port)), nil
	}
	a := o.Listen.Masked().Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+uint32(i+1))
	at := netip.AddrFrom4(a)
	if !o.Listen.Contains(at) {
		return netip.AddrPort{}, fmt.Errorf(
			"%s has too few addresses for the switches: take a wider network",
			o.Listen,
		)
	}
	return netip.AddrPortFrom(at, uint16(o.BasePort)), nil
}

// managementPrefix is the address the model of switch i says it has: the one it
// listens on when that is its own, else one of 10.99.0.0/16.
func (o *Options) managementPrefix(i int, at netip.AddrPort) netip.Prefix {
	if !o.hasSingleAddress() {
		return netip.PrefixFrom(at.Addr(), o.Listen.Bits())
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 99, byte((i + 1) >> 8), byte(i + 1)}), 16)
}

// switchMAC is 02:00:00:00 and the number of the switch, from 1.
func switchMAC(i int) simswitch.MAC {
	return simswitch.MAC{2, 0, 0, 0, byte((i + 1) >> 8), byte(i + 1)}
}

// hostMAC is 06:00:00, the number of the host at its switch, and the switch.
func hostMAC(i, host int) simswitch.MAC {
	return simswitch.MAC{6, 0, 0, byte(host + 1), byte((i + 1) >> 8), byte(i + 1)}
}
