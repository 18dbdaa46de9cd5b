package simswitch

import (
	"net/netip"
	"strings"
)

// lldpAt is lldpObjects of LLDP-MIB (IEEE 802.1AB-2005).
const lldpAt = "1.0.8802.1.1.2.1."

// Neighbor is what one end of a link sends the other by LLDP.
type Neighbor struct {
	ChassisSubtype int // 4 MAC, 5 network address, 7 local …
	Chassis        []byte
	PortSubtype    int // 3 MAC, 5 interface name, 7 local …
	Port           []byte
	PortDesc       string
	SysName        string
	SysDesc        string
	Management     netip.Addr // may be invalid: not advertised
	ManagementIf   int        // its ifIndex
}

type nearRow struct {
	mark  uint32
	local uint32 // lldpRemLocalPortNum
	index uint32
	port  int
	Neighbor
}

type lldpStats struct {
	changed, inserts, deletes, last uint32
}

// chassis returns the LLDP chassis id of the switch.
func (s *Switch) chassis() []byte {
	m := s.cfg.MAC
	if s.cfg.Profile.ChassisDiffers {
		m[0] |= 0x40
	}
	if s.cfg.Profile.ChassisText {
		return []byte(strings.ToUpper(strings.ReplaceAll(m.String(), ":", "-")))
	}
	return m[:]
}

func (s *Switch) portID(number int) (subtype int, id []byte) {
	p := s.cfg.Profile
	shown := number
	if p.SamePortID {
		shown = 1
	}
	switch subtype = p.PortIDSubtype; subtype {
	case 3:
		m := s.portMAC(shown)
		return 3, m[:]
	case 0:
		subtype = 5
	}
	return subtype, []byte(s.portName(shown) + p.PortIDEnd)
}

func (s *Switch) lldpPort(number int) uint32 {
	if s.cfg.Profile.LLDPByIfIndex {
		return s.ifIndex(number)
	}
	return uint32(number)
}

// Advert returns what the switch advertises at a port.
func (s *Switch) Advert(number int) Neighbor {
	s.mu.Lock()
	defer s.mu.Unlock()
	subtype, id := s.portID(number)
	return Neighbor{
		ChassisSubtype: 4, Chassis: s.chassis(), PortSubtype: subtype, Port: id, PortDesc: s.portName(number),
		SysName: s.name, SysDesc: s.cfg.Profile.Descr, Management: s.cfg.Address.Addr(), ManagementIf: s.cfg.Profile.SVI,
	}
}

// lldpConfigObjects is what managers read of lldpStatistics.
func lldpConfigObjects() []object {
	return []object{scalar("lldpStatsRemTablesLastChangeTime", lldpAt+"2.1", func(s *Switch) value { return ticks(s.lldp.changed) })}
}
