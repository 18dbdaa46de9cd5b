package simswitch

import (
	"cmp"
	"slices"

	"ctl.internal/internal/lab/snmpwire"
)

// maxVLAN is the greatest VLAN id (IEEE 802.1Q).
const maxVLAN = 4094

// The values of RowStatus (RFC 2579).
const (
	active        = 1
	notInService  = 2
	notReady      = 3
	createAndGo   = 4
	createAndWait = 5
	destroy       = 6
)

// vlan is a row of dot1qVlanStaticTable; while active it is in
// dot1qVlanCurrentTable too.
type vlan struct {
	id        uint16
	status    uint8
	fresh     bool // made by the request in hand
	name      string
	egress    []byte
	untagged  []byte
	forbidden []byte
	created   uint32
}

// findVLAN returns a VLAN by its id, nil if it does not exist.
func (s *Switch) findVLAN(id uint32) *vlan {
	i, found := s.vlanAt(id)
	if !found {
		return nil
	}
	return s.vlans[i]
}

func (s *Switch) vlanAt(id uint32) (int, bool) {
	return slices.BinarySearchFunc(s.vlans, id, func(v *vlan, id uint32) int {
		return cmp.Compare(uint32(v.id), id)
	})
}

// VLAN is what a switch knows of a VLAN, for tests to compare with.
type VLAN struct {
	ID       int
	Name     string
	Active   bool
	Egress   []int // ports, ascending
	Untagged []int
}

// VLANs returns the VLANs in the order of their ids.
func (s *Switch) VLANs() []VLAN {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]VLAN, len(s.vlans))
	for i, v := range s.vlans {
		out[i] = VLAN{int(v.id), v.name, v.status == active, s.portListMembers(v.egress), s.portListMembers(v.untagged)}
	}
	return out
}

// PVID returns dot1qPvid of a port, 0 when there is no such port.
func (s *Switch) PVID(number int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.findPort(number); p != nil {
		return int(p.pvid)
	}
	return 0
}

// vlanCurrentObjects is dot1qVlanCurrentTable: the VLANs that are active, with
// a time mark before the id.
func vlanCurrentObjects() []object {
	t := table[*vlan]{
		at:    snmpwire.MustOID("1.3.6.1.2.1.17.7.1.4.2.1"),
		count: func(s *Switch) int { return len(s.currentVLANs()) },
		row:   func(s *Switch, i int) *vlan { return s.currentVLANs()[i] },
		index: func(s *Switch, v *vlan, dst oid) oid {
			return append(dst, s.timeMark(v), uint32(v.id))
		},
	}
	return []object{
		t.newColumn(3, "dot1qVlanFdbId", func(s *Switch, v *vlan) value {
			return gaugeValue(uint64(s.fdbID(v.id)))
		}),
		t.newColumn(4, "dot1qVlanCurrentEgressPorts", func(s *Switch, v *vlan) value {
			return s.portList(v.egress)
		}),
		t.newColumn(5, "dot1qVlanCurrentUntaggedPorts", func(s *Switch, v *vlan) value {
			return s.portList(v.untagged)
		}),
	}
}

// timeMark is when the row last changed, which TimeFilter tables lead with
// (RFC 4502); many makes leave it 0.
func (s *Switch) timeMark(v *vlan) uint32 {
	if s.cfg.Profile.TimeMark {
		return v.created
	}
	return 0
}

// currentVLANs returns the active VLANs in the order of the current table. Nearly
// always that is all of them as they are; else the list is kept until a row
// changes its status.
func (s *Switch) currentVLANs() []*vlan {
	if s.active == nil {
		s.active = s.vlans
		if s.cfg.Profile.TimeMark ||
			slices.ContainsFunc(s.vlans, func(v *vlan) bool {
				return v.status != active
			}) {
			s.active = slices.DeleteFunc(slices.Clone(s.vlans), func(v *vlan) bool {
				return v.status != active
			})
			slices.SortStableFunc(s.active, func(a, b *vlan) int {
				return cmp.Compare(s.timeMark(a), s.timeMark(b))
			})
		}
	}
	return s.active
}
