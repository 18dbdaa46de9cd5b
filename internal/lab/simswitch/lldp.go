package simswitch

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/internal/lab/snmpwire"
)

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
}

type nearRow struct {
	mark  uint32
	local uint32 // lldpRemLocalPortNum
	index uint32
	port  int
	Neighbor
}

type lldpStats struct {
	changed uint32 // lldpStatsRemTablesLastChangeTime
	last    uint32 // index of the newest neighbour
}

// chassisID returns the LLDP chassis id of the switch.
func (s *Switch) chassisID() []byte {
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
		ChassisSubtype: 4,
		Chassis:        s.chassisID(),
		PortSubtype:    subtype,
		Port:           id,
		PortDesc:       s.portName(number),
		SysName:        s.name,
		SysDesc:        s.cfg.Profile.Descr,
		Management:     s.cfg.Address.Addr(),
	}
}

// cdpAt is ciscoCdpMIBObjects of CISCO-CDP-MIB.
const cdpAt = "1.3.6.1.4.1.9.9.23.1."

// cdpRows are the neighbours in the order of cdpCacheTable: ifIndex, then a number.
func (s *Switch) cdpRows() []*nearRow {
	rows := make([]*nearRow, len(s.near))
	for i := range s.near {
		rows[i] = &s.near[i]
	}
	slices.SortFunc(rows, func(a, b *nearRow) int {
		return cmp.Or(
			cmp.Compare(s.ifIndex(a.port), s.ifIndex(b.port)),
			cmp.Compare(a.index, b.index),
		)
	})
	return rows
}

// cdpObjects is what a manager needs of CISCO-CDP-MIB. The device id of a switch is
// its name, and ports are named.
func cdpObjects() []object {
	t := table[*nearRow]{
		at:    snmpwire.MustOID(cdpAt + "2.1.1"),
		count: func(s *Switch) int { return len(s.near) },
		row:   func(s *Switch, i int) *nearRow { return s.cdpRows()[i] },
		index: func(s *Switch, r *nearRow, dst oid) oid {
			return append(dst, s.ifIndex(r.port), r.index)
		},
	}
	return []object{
		newScalar("cdpGlobalRun", cdpAt+"3.1", func(*Switch) value {
			return truthValue(true)
		}),
		newScalar("cdpGlobalDeviceId", cdpAt+"3.4", func(s *Switch) value {
			return snmpwire.Text(s.name)
		}),
		t.newColumn(3, "cdpCacheAddressType", constantColumn[*nearRow](snmpwire.Int32(1))),
		t.newColumn(4, "cdpCacheAddress", func(_ *Switch, r *nearRow) value {
			if !r.Management.Is4() {
				return snmpwire.Octets(nil)
			}
			a := r.Management.As4()
			return snmpwire.Octets(a[:])
		}),
		t.newColumn(6, "cdpCacheDeviceId", func(_ *Switch, r *nearRow) value {
			return snmpwire.Text(r.SysName)
		}),
		t.newColumn(7, "cdpCacheDevicePort", func(_ *Switch, r *nearRow) value {
			return snmpwire.Text(r.PortDesc)
		}),
		t.newColumn(8, "cdpCachePlatform", func(_ *Switch, r *nearRow) value {
			return snmpwire.Text(r.SysDesc)
		}),
	}
}
