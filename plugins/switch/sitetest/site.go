// Package sitetest makes sites of switches whose cables are known, and what their switches would report of them: with
// aggregates, daisy chains, hubs, switches without LLDP, some that are only heard, rows that are old, and names that
// several switches have. Tests compare with it what is discovered.
package sitetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
)

// Site is a site and what its switches report.
type Site struct {
	Observations []*discovery.Observation
	// Links are the cables between switches; those of an aggregate are one link.
	Links []Link
	Hosts []Host
	// Tables are the forwarding tables, by switch: addresses and the numbers of ports.
	Tables map[mib.MAC]map[mib.MAC]uint32
	// Answered is what the switches answer when they are asked for evidence, before the addresses are filtered.
	Answered map[mib.MAC]discovery.Evidence

	random   *rand.Rand
	switches []*device
	groups   map[string]string // of member ports: NODE/PORT to the aggregate's
}

// Link joins two ports, each NODE-ID/PORT-ID, the smaller first.
type Link struct {
	A, B string
	// Mute: one of the two switches reports no neighbours and is not reported.
	Mute bool
}

// Host is a station at a port of a switch.
type Host struct {
	MAC    mib.MAC
	Switch mib.MAC
	Port   uint32
}

// The port numbers of a switch: access ports, and aggregates from here on.
const (
	ports     = 48
	firstLAG  = 101
	gatewayAt = 48 // of the first switch
)

// Gateway is the address of the router that all switches and hosts talk to.
const Gateway mib.MAC = 0x02ffff000001

// styles are the ways in which switches name their ports.
type style int

const (
	byName       style = iota // LLDP sends ifName, and the switch lists it
	byLongName                // the long name of the interface, which the switch does not list
	byIfIndex                 // a bare ifIndex, with the description; base ports are other numbers
	byBasePort                // a bare base port, and each is also the ifIndex of another port
	byAddress                 // the address of the port
	byDescr                   // one id on all ports, and a description
	byCDP                     // CDP with a name
	byBinaryCDP               // CDP with six octets
	numberStyles = int(byBinaryCDP) + 1
)

type device struct {
	n       int
	mac     mib.MAC // of the list
	frames  mib.MAC // of what it sends
	style   style
	mute    bool // speaks no protocol for neighbours
	heard   bool // is heard, and hears nothing
	stale   bool // does not answer any more
	o       *discovery.Observation
	parent  *device
	up      uint32 // port that leads to the gateway
	kids    map[uint32][]*device
	next    uint32 // free port
	nextLAG uint32
	linkOf  map[*device][]uint32 // physical ports to another switch
}

// New makes a site of so many switches and hosts; the same seed makes the same one.
func New(seed uint64, switches, hosts int) *Site {
	s := &Site{
		random:   rand.New(rand.NewPCG(seed, 33)),
		groups:   map[string]string{},
		Tables:   map[mib.MAC]map[mib.MAC]uint32{},
		Answered: map[mib.MAC]discovery.Evidence{},
	}
	for n := range switches {
		s.switches = append(s.switches, s.newDevice(n))
	}
	s.cableSwitches()
	s.reportNeighbors()
	s.addOldRows()
	s.addTelephones()
	s.learnAddresses()
	s.connectHosts(hosts)
	for _, d := range s.switches {
		s.Observations = append(s.Observations, d.o)
	}
	s.addEvidence()
	return s
}

func (s *Site) randomChance(p float64) bool {
	return s.random.Float64() < p
}

func (s *Site) newDevice(n int) *device {
	d := &device{
		n:       n,
		mac:     mib.MAC(0x020000000000 + uint64(n+1)<<8),
		style:   style(s.random.IntN(numberStyles)),
		kids:    map[uint32][]*device{},
		next:    1,
		nextLAG: firstLAG,
		linkOf:  map[*device][]uint32{},
	}
	d.frames = d.mac
	if s.randomChance(0.2) {
		d.frames = d.mac + 0xfe
	}
	if n > 14 {
		d.mute, d.heard = s.randomChance(0.15), s.randomChance(0.05)
		d.stale = !d.mute && !d.heard && s.randomChance(0.03)
	}
	d.o = &discovery.Observation{
		Node:     d.mac,
		Bridge:   d.mac,
		Address:  netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}),
		SysName:  fmt.Sprintf("sw%d.site.example", n),
		SysOID:   "1.3.6.1.4.1.171.10",
		Stale:    d.stale,
		Observed: time.Unix(1000, 0),
		Marks:    discovery.Marks{At: time.Unix(1000, 0)},
	}
	if s.randomChance(0.2) {
		d.o.SysName = "Switch"
	}
	if d.style != byCDP && d.style != byBinaryCDP && !d.mute {
		d.o.Chassis = discovery.Identifier{
			Subtype: 4,
			ID:      d.mac.Octets(),
		}
	}
	if d.style == byCDP && !d.mute {
		d.o.SysName = fmt.Sprintf("sw%d.site.example", n)
		d.o.Device = fmt.Sprintf("sw%d.site.example", n)
	}
	for p := uint32(1); p <= ports; p++ {
		d.o.Ports = append(d.o.Ports, d.listedPort(p))
	}
	return d
}

// listedPort is a port as the switch lists it.
func (d *device) listedPort(n uint32) discovery.Port {
	p := discovery.Port{
		ID:      fmt.Sprint(n),
		Number:  n,
		IfIndex: n,
		Name:    fmt.Sprintf("Gi1/0/%d", n),
		Descr:   fmt.Sprintf("Port %d of unit 1", n),
		MAC:     d.mac + mib.MAC(n),
		Admin:   1,
		Oper:    2,
		Speed:   1_000_000_000,
		Bridged: true,
	}
	switch d.style {
	case byName:
		p.LLDP = discovery.Identifier{
			Subtype: 5,
			ID:      []byte(p.Name),
		}
	case byIfIndex:
		p.IfIndex = 4000 + n
	case byBasePort:
		p.IfIndex = n + 1
	case byDescr:
		p.LLDP, p.LLDPDesc = discovery.Identifier{
			Subtype: 3,
			ID:      d.mac.Octets(),
		}, p.Descr
	}
	return p
}

// announcedNeighbor is what a neighbour gets of a port.
func (d *device) announcedNeighbor(n uint32) discovery.Neighbor {
	p := &d.o.Ports[n-1]
	nb := discovery.Neighbor{
		Protocol: discovery.LLDP,
		Chassis: discovery.Identifier{
			Subtype: 4,
			ID:      d.mac.Octets(),
		},
		SysName:   d.o.SysName,
		PortDesc:  p.Descr,
		Addresses: []netip.Addr{d.o.Address},
	}
	text := func(subtype int32, s string) discovery.Identifier {
		return discovery.Identifier{
			Subtype: subtype,
			ID:      []byte(s),
		}
	}
	switch d.style {
	case byName:
		nb.Port = text(5, p.Name)
	case byLongName:
		nb.Port, nb.PortDesc = text(5, fmt.Sprintf("GigabitEthernet1/0/%d", n)), ""
	case byIfIndex, byBasePort:
		nb.Port = text(
			7,
			fmt.Sprint(map[style]uint32{
				byIfIndex:  p.IfIndex,
				byBasePort: p.Number,
			}[d.style]),
		)
	case byAddress:
		nb.Port = discovery.Identifier{
			Subtype: 3,
			ID:      p.MAC.Octets(),
		}
	case byDescr:
		nb.Port = discovery.Identifier{
			Subtype: 3,
			ID:      d.mac.Octets(),
		}
	case byCDP, byBinaryCDP:
		nb = discovery.Neighbor{
			Protocol:  discovery.CDP,
			Port:      text(5, fmt.Sprintf("GigabitEthernet1/0/%d", n)),
			Addresses: []netip.Addr{d.o.Address},
			Chassis:   discovery.Identifier{ID: []byte(d.o.Device)},
			SysName:   d.o.SysName,
		}
		if d.style == byBinaryCDP {
			nb.Chassis.ID, nb.SysName = d.mac.Octets(), ""
		}
	}
	return nb
}

// cableSwitches joins the switches: two in the core, twelve to distribute, the others below them or in chains; some behind hubs.
func (s *Site) cableSwitches() {
	all := s.switches
	s.joinSwitches(all[1], all[0], 2)
	last := min(14, len(all))
	for i := 2; i < last; i++ {
		s.joinSwitches(all[i], all[i%2], 2)
	}
	for i := last; i < len(all); {
		above := all[2+s.random.IntN(max(1, last-2))]
		switch {
		case s.randomChance(0.15): // a chain
			for range 2 + s.random.IntN(4) {
				if i == len(all) {
					break
				}
				s.joinSwitches(all[i], above, 1)
				above = all[i]
				i++
			}
		case s.randomChance(0.04) && i+2 < len(all): // a hub, which passes no LLDP
			s.addHub(all[i:i+2], above)
			i += 2
		default:
			s.joinSwitches(all[i], above, 1+s.random.IntN(5)/4)
			i++
		}
	}
	all[0].up = gatewayAt
	all[0].o.Ports[gatewayAt-1].Oper = 1
}

// joinSwitches cables a switch to the one above it.
func (s *Site) joinSwitches(d, above *device, cables int) {
	var at [2]uint32
	for k, x := range []*device{d, above} {
		other := []*device{above, d}[k]
		for range cables {
			x.o.Ports[x.next-1].Oper = 1
			x.linkOf[other] = append(x.linkOf[other], x.next)
			x.next++
		}
		at[k] = x.linkOf[other][0]
		if cables > 1 {
			at[k] = s.bundlePorts(x, x.linkOf[other])
		}
	}
	d.parent, d.up = above, at[0]
	above.kids[at[1]] = append(above.kids[at[1]], d)
	s.Links = append(
		s.Links,
		linkOf(portKey(d, at[0]), portKey(above, at[1]), d.mute || above.mute),
	)
}

// bundlePorts makes an aggregate of ports.
func (s *Site) bundlePorts(d *device, members []uint32) uint32 {
	n := d.nextLAG
	d.nextLAG++
	d.o.Ports = append(d.o.Ports, discovery.Port{
		ID:      fmt.Sprint(n),
		Number:  n,
		IfIndex: 9000 + n,
		Name:    fmt.Sprintf("Po%d", n-firstLAG+1),
		Admin:   1,
		Oper:    1,
		Speed:   2_000_000_000,
		Bridged: true,
	})
	for _, m := range members {
		s.groups[portKey(d, m)] = portKey(d, n)
		d.o.Ports[m-1].Aggregate = 9000 + n
	}
	return n
}

// addHub puts switches behind a hub at a port of another: they share a segment, which is no link.
func (s *Site) addHub(below []*device, above *device) {
	p := above.next
	above.next++
	above.o.Ports[p-1].Oper = 1
	for _, d := range below {
		d.mute, d.heard, d.stale, d.o.Stale = true, false, false, false
		d.o.Chassis, d.o.Device = discovery.Identifier{}, ""
		d.o.Ports[d.next-1].Oper = 1
		d.parent, d.up = above, d.next
		d.next++
		above.kids[p] = append(above.kids[p], d)
	}
}

func portKey(d *device, port uint32) string {
	return fmt.Sprintf("%s/%d", discovery.NodeID(d.mac), port)
}

func linkOf(a, b string, mute bool) Link {
	return Link{min(a, b), max(a, b), mute}
}

// reportNeighbors gives the switches what they hear of each other.
func (s *Site) reportNeighbors() {
	for _, d := range s.switches {
		for _, other := range s.switches {
			here, there := d.linkOf[other], other.linkOf[d]
			if d.mute || d.heard || other.mute {
				continue
			}
			for k := range here {
				n := other.announcedNeighbor(there[k])
				n.LocalPort = fmt.Sprint(here[k])
				d.o.Neighbors = append(d.o.Neighbors, n)
			}
		}
	}
}

// addOldRows leaves rows of switches that were at a port before; in half of the cases both ports are in use by hosts now, so that
// nothing but the forwarding tables speaks against it.
func (s *Site) addOldRows() {
	for _, d := range s.switches {
		if d.mute || d.heard || !s.randomChance(0.08) {
			continue
		}
		other := s.switches[s.random.IntN(len(s.switches))]
		if other == d || other.mute || len(d.linkOf[other]) > 0 {
			continue
		}
		state := int32(1 + s.random.IntN(2))
		d.o.Ports[ports-2].Oper, other.o.Ports[ports-3].Oper = state, state
		n := other.announcedNeighbor(ports - 2)
		n.LocalPort = fmt.Sprint(ports - 1)
		d.o.Neighbors = append(d.o.Neighbors, n)
	}
}

// addTelephones are devices outside the list that all announce the address "::".
func (s *Site) addTelephones() {
	for k := range len(s.switches) / 4 {
		d := s.switches[s.random.IntN(len(s.switches))]
		if d.mute || d.heard {
			continue
		}
		d.o.Ports[d.next-1].Oper = 1
		d.o.Neighbors = append(d.o.Neighbors, discovery.Neighbor{
			LocalPort: fmt.Sprint(d.next),
			Protocol:  discovery.LLDP,
			SysName:   "phone",
			Chassis: discovery.Identifier{
				Subtype: 5,
				ID:      append([]byte{2}, make([]byte, 16)...),
			},
			Port: discovery.Identifier{
				Subtype: 3,
				ID:      mib.MAC(0x02aa00000000 + uint64(k)).Octets(),
			},
		})
		d.next++
	}
}

// learnAddresses fills the forwarding tables with the switches themselves and the gateway.
func (s *Site) learnAddresses() {
	for _, d := range s.switches {
		s.Tables[d.mac] = map[mib.MAC]uint32{Gateway: d.up}
	}
	for _, d := range s.switches {
		s.learnStation(d.frames, d, s.randomChance(0.3))
	}
}

// learnStation has the switches on the way to the gateway learn a station; all of them, if it broadcasts.
func (s *Site) learnStation(m mib.MAC, at *device, broadcasts bool) {
	on := map[*device]bool{at: true}
	for d := at; d.parent != nil; d = d.parent {
		for port, kids := range d.parent.kids {
			if slices.Contains(kids, d) {
				s.Tables[d.parent.mac][m] = port
			}
		}
		on[d.parent] = true
	}
	if !broadcasts {
		return
	}
	for _, d := range s.switches {
		if !on[d] {
			s.Tables[d.mac][m] = d.up
		}
	}
}

// connectHosts attaches hosts to free ports of switches that answer.
func (s *Site) connectHosts(hosts int) {
	for k := range hosts {
		d := s.switches[2+s.random.IntN(len(s.switches)-2)]
		if d.stale || d.next >= ports-2 {
			d = s.switches[2]
		}
		h := Host{mib.MAC(0x02bb00000000 + uint64(k)), d.mac, d.next}
		d.o.Ports[d.next-1].Oper = 1
		if s.randomChance(0.8) || d.next < 8 {
			d.next = min(d.next+1, ports-3)
		}
		s.Hosts = append(s.Hosts, h)
		s.Tables[d.mac][h.MAC] = h.Port
		s.learnStation(h.MAC, d, s.randomChance(0.6))
	}
}

// addEvidence is what the switches answer when they are asked for it.
func (s *Site) addEvidence() {
	listed := map[mib.MAC]bool{}
	arp := map[netip.Addr]mib.MAC{}
	for _, d := range s.switches {
		listed[d.mac] = true
		arp[d.o.Address] = d.frames
	}
	var read []*discovery.Observation
	for _, d := range s.switches {
		if d.stale {
			continue
		}
		e := &discovery.Evidence{
			Seen:   map[string][]mib.MAC{},
			Others: map[mib.MAC]string{},
		}
		for _, m := range slices.Sorted(maps.Keys(s.Tables[d.mac])) {
			port := fmt.Sprint(s.Tables[d.mac][m])
			if listed[m] {
				e.Seen[port] = append(e.Seen[port], m)
			} else {
				e.Others[m] = port
			}
		}
		if d.n == 0 {
			e.ARP = arp
		}
		d.o.Evidence = e
		s.Answered[d.mac] = discovery.Evidence{
			Seen:   maps.Clone(e.Seen),
			Others: e.Others,
			ARP:    e.ARP,
		}
		read = append(read, d.o)
	}
	discovery.KeepProvedAddresses(read)
}

// WithoutAnswer chooses switches with others below them, n at most, that are not to answer.
func (s *Site) WithoutAnswer(n int) map[mib.MAC]bool {
	out := map[mib.MAC]bool{}
	for _, d := range s.switches[2:] {
		if len(d.kids) > 0 && len(out) < n && s.randomChance(0.3) {
			out[d.mac] = true
		}
	}
	return out
}

// Found are the links of a network in the form of Links; those at members of an aggregate are the aggregate's.
func (s *Site) Found(n *discovery.Network) map[Link]string {
	whole := func(e discovery.End, members []string) string {
		at := e.Node + "/" + e.Port
		if e.Port == "" && len(members) > 0 {
			at = e.Node + "/" + members[0]
		}
		if g := s.groups[at]; g != "" {
			return g
		}
		return at
	}
	out := map[Link]string{}
	for _, e := range n.Edges {
		if e.Tail.Kind == discovery.SNMP && e.Head.Kind == discovery.SNMP {
			out[linkOf(
				whole(e.Tail, e.TailMembers),
				whole(e.Head, e.HeadMembers),
				false,
			)] = e.Source
		}
	}
	return out
}
