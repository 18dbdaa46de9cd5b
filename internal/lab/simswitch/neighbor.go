package simswitch

import (
	"cmp"
	"slices"
)

// AddNeighbor learns a neighbour at a port. A port may have many; when the
// port is down nothing is learned and false is returned.
func (s *Switch) AddNeighbor(number int, n Neighbor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.findPort(number); p == nil || !p.isUp() {
		return false
	}
	s.lldp.last++
	s.lldp.changed = s.UpTime()
	r := nearRow{max(s.lldp.changed, 1), s.lldpPort(number), s.lldp.last, number, n}
	i, _ := slices.BinarySearchFunc(s.near, r, func(a, b nearRow) int {
		return cmp.Or(
			cmp.Compare(a.mark, b.mark),
			cmp.Compare(a.local, b.local),
			cmp.Compare(a.index, b.index),
		)
	})
	s.near = slices.Insert(s.near, i, r)
	return true
}

// Neighbors returns the number of neighbours at a port.
func (s *Switch) Neighbors(number int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.near {
		if r.port == number {
			n++
		}
	}
	return n
}

func (s *Switch) forgetNeighbors(number int) {
	before := len(s.near)
	s.near = slices.DeleteFunc(s.near, func(r nearRow) bool { return r.port == number })
	if len(s.near) < before {
		s.lldp.changed = s.UpTime()
	}
}

// Discovery is how a switch shows its neighbours by SNMP.
type Discovery string

// The ways. Whatever it is, switches of a network announce themselves to each other:
// it is the MIB that differs, as it does between makes.
const (
	LLDP   Discovery = "lldp"    // LLDP-MIB (IEEE 802.1AB-2005), the default
	LLDPV2 Discovery = "lldp-v2" // LLDP-V2-MIB (IEEE 802.1AB-2016) only
	CDP    Discovery = "cdp"     // CISCO-CDP-MIB only
	Both   Discovery = "both"    // LLDP-MIB and CISCO-CDP-MIB
	Mute   Discovery = "none"    // no MIB with neighbours
)

// Discoveries are all ways there are.
func Discoveries() []Discovery {
	return []Discovery{LLDP, LLDPV2, CDP, Both, Mute}
}

// Discovery returns how the switch shows its neighbours.
func (s *Switch) Discovery() Discovery {
	return s.cfg.Discovery
}
