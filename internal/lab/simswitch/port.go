package simswitch

import (
	"fmt"
	"slices"
)

// port is a bridge port.
type port struct {
	number  int // base port, from 1
	admin   bool
	carrier bool
	pvid    uint16
	stp     stpPort
	traffic traffic
	alias   []byte // ifAlias
	power   portPower
}

func (p *port) isUp() bool { return p.admin && p.carrier }

// iface is an interface: a port, or the management interface (port 0).
type iface struct {
	index uint32
	port  int
}

func (s *Switch) makePorts() {
	s.ports = make([]port, s.cfg.Ports)
	s.ifs = make([]iface, 0, s.cfg.Ports+1)
	for i := range s.ports {
		s.ports[i] = port{
			number: i + 1,
			admin:  true,
			pvid:   1,
			stp:    stpPort{enable: true, state: Disabled},
		}
		s.ifs = append(s.ifs, iface{s.ifIndex(i + 1), i + 1})
	}
	s.ifs = append(s.ifs, iface{uint32(s.cfg.Profile.SVI), 0})
	slices.SortFunc(s.ifs, func(a, b iface) int { return int(a.index) - int(b.index) })
}

func (s *Switch) ifIndex(number int) uint32 {
	return uint32(number + s.cfg.Profile.IfIndexOffset)
}

// IfIndex returns the ifIndex of a base port.
func (s *Switch) IfIndex(number int) int {
	return int(s.ifIndex(number))
}

func (s *Switch) portName(number int) string {
	if number == 0 {
		return "System"
	}
	return fmt.Sprintf(s.cfg.Profile.PortName, number)
}

// portMAC is the address of an interface: the bridge address with the port
// number added where switches of one network do not differ.
func (s *Switch) portMAC(number int) MAC {
	m := s.cfg.MAC
	m[1] |= 0x10
	m[2] += byte(number >> 8)
	m[3] += byte(number)
	return m
}

// findPort returns a port by its number, nil if it does not exist.
func (s *Switch) findPort(number int) *port {
	if number < 1 || number > len(s.ports) {
		return nil
	}
	return &s.ports[number-1]
}

// AdminUp returns whether ifAdminStatus of a port is up.
func (s *Switch) AdminUp(number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.findPort(number)
	return p != nil && p.admin
}

// SetAdminUp sets ifAdminStatus of a port, as a command line does.
func (s *Switch) SetAdminUp(number int, up bool) {
	s.mu.Lock()
	p := s.findPort(number)
	changed := p != nil && p.admin != up
	if changed {
		was := p.isUp()
		p.admin = up
		s.linkChanged(p, was, p.isUp())
	}
	s.mu.Unlock()
	if changed && s.cfg.PortAdmin != nil {
		s.cfg.PortAdmin(number, up)
	}
}

// Up returns whether ifOperStatus of a port is up.
func (s *Switch) Up(number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.findPort(number)
	return p != nil && p.isUp()
}

// SetCarrier says whether there is a living peer at the other end. It
// reports whether that changed ifOperStatus. A port that goes down forgets
// its neighbours and learned addresses.
func (s *Switch) SetCarrier(number int, up bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.findPort(number)
	if p == nil || p.carrier == up {
		return false
	}
	was := p.isUp()
	p.carrier = up
	s.linkChanged(p, was, p.isUp())
	return was != p.isUp()
}

// linkChanged does what follows from a change of ifOperStatus.
func (s *Switch) linkChanged(p *port, was, is bool) {
	if was == is {
		return
	}
	if !is {
		s.forgetNeighbors(p.number)
		s.flushLearned(func(r fdbRow) bool { return int(r.port) == p.number })
	}
}

// portTable is a table with the base port as index.
func portTable(at oid) table[*port] {
	return table[*port]{
		at:    at,
		count: func(s *Switch) int { return len(s.ports) },
		row:   func(s *Switch, i int) *port { return &s.ports[i] },
		index: func(_ *Switch, p *port, dst oid) oid {
			return append(dst, uint32(p.number))
		},
	}
}

// Forwards reports whether frames of a VLAN pass a port: it is up, a member,
// and not blocked.
func (s *Switch) Forwards(number, vlanID int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, v := s.findPort(number), s.findVLAN(uint32(vlanID))
	return p != nil && v != nil && v.status == active && p.isUp() && hasBit(v.egress, number) &&
		(!p.stp.enable || p.stp.state == Forwarding)
}
