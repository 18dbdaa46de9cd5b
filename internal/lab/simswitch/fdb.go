package simswitch

import (
	"cmp"
	"slices"

	"ctl.internal/internal/lab/snmpwire"
)

// The values of dot1qTpFdbStatus and dot1dTpFdbStatus.
const (
	fdbLearned = 3
	fdbSelf    = 4
	fdbMgmt    = 5
)

// MaxFDB bounds the addresses of a switch, as the memory of a real one does.
const MaxFDB = 8192

// fdbRow is an address; port 0 is the switch itself.
type fdbRow struct {
	vlan uint16
	mac  MAC
	port uint16
	kind uint8
}

func (r fdbRow) compare(o fdbRow) int {
	return cmp.Or(cmp.Compare(r.vlan, o.vlan), slices.Compare(r.mac[:], o.mac[:]))
}

// putFDB adds or replaces an address. A learned one never replaces a static one.
func (s *Switch) putFDB(r fdbRow) {
	i, found := slices.BinarySearchFunc(s.fdb, r, fdbRow.compare)
	switch {
	case found && (r.kind != fdbLearned || s.fdb[i].kind == fdbLearned):
		s.fdb[i] = r
	case !found && len(s.fdb) < MaxFDB:
		s.fdb = slices.Insert(s.fdb, i, r)
	}
}

// Fill makes a great table: n addresses learned in VLAN 1 by the ports in turn, beyond what MaxFDB allows, and as
// many neighbours in the ARP table as IPv4 addresses of 10.0.0.0/8.
func (s *Switch) Fill(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, _ := slices.BinarySearchFunc(s.fdb, fdbRow{vlan: 2}, fdbRow.compare)
	rows := slices.Clone(s.fdb[:one])
	s.arp = slices.Grow(s.arp, n)
	for i := range n {
		mac := MAC{0x0a, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}
		rows = append(rows, fdbRow{1, mac, uint16(i%len(s.ports)) + 1, fdbLearned})
		s.arp = append(
			s.arp,
			arpRow{[4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}, mac, arpDynamic},
		)
	}
	slices.SortFunc(rows, fdbRow.compare)
	s.fdb = append(rows, s.fdb[one:]...)
	slices.SortFunc(s.arp, func(a, b arpRow) int {
		return slices.Compare(a.ip[:], b.ip[:])
	})
	s.arp = slices.CompactFunc(s.arp, func(a, b arpRow) bool { return a.ip == b.ip })
}

// flushLearned forgets the learned addresses that f selects.
func (s *Switch) flushLearned(f func(fdbRow) bool) {
	s.fdb = slices.DeleteFunc(s.fdb, func(r fdbRow) bool {
		return r.kind == fdbLearned && f(r)
	})
}

// Flush forgets all learned addresses, as a change of the spanning tree does.
func (s *Switch) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushLearned(func(fdbRow) bool { return true })
}

// Learn adds an address as if a frame from it had come in. It reports false,
// and learns nothing, when the port is down or not a member of the VLAN.
func (s *Switch) Learn(vlanID int, mac MAC, number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, v := s.findPort(number), s.findVLAN(uint32(vlanID))
	if p == nil || v == nil || !p.isUp() || !hasBit(v.egress, number) {
		return false
	}
	s.putFDB(fdbRow{uint16(vlanID), mac, uint16(number), fdbLearned})
	return true
}

// LearnSelf adds the switch's own address, on port 0, to a VLAN.
func (s *Switch) LearnSelf(vlanID int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putFDB(fdbRow{uint16(vlanID), s.cfg.MAC, 0, fdbSelf})
}

// Where returns the port that an address is known on.
func (s *Switch) Where(vlanID int, mac MAC) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(
		s.fdb,
		fdbRow{vlan: uint16(vlanID), mac: mac},
		fdbRow.compare,
	)
	if !found {
		return 0, false
	}
	return int(s.fdb[i].port), true
}

func (s *Switch) fdbID(vlanID uint16) uint32 {
	return uint32(int(vlanID) + s.cfg.Profile.FDBOffset)
}

func appendMAC(dst oid, m MAC) oid {
	for _, b := range m {
		dst = append(dst, uint32(b))
	}
	return dst
}

// fdbObjects is dot1qTpFdbTable of Q-BRIDGE-MIB (RFC 4363).
func fdbObjects() []object {
	t := table[fdbRow]{
		at: snmpwire.MustOID("1.3.6.1.2.1.17.7.1.2.2.1"),
		count: func(s *Switch) int {
			if s.cfg.Profile.NoQBridgeTable {
				return 0
			}
			return len(s.fdb)
		},
		row: func(s *Switch, i int) fdbRow { return s.fdb[i] },
		index: func(s *Switch, r fdbRow, dst oid) oid {
			return appendMAC(append(dst, s.fdbID(r.vlan)), r.mac)
		},
	}
	return []object{
		t.newColumn(2, "dot1qTpFdbPort", func(_ *Switch, r fdbRow) value {
			return snmpwire.Int32(int(r.port))
		}),
		t.newColumn(3, "dot1qTpFdbStatus", func(_ *Switch, r fdbRow) value {
			return snmpwire.Int32(int(r.kind))
		}),
	}
}

// bridgeFDBObjects is dot1dTpFdbTable of BRIDGE-MIB: the addresses of VLAN 1,
// for it knows no VLANs.
func bridgeFDBObjects() []object {
	t := table[fdbRow]{
		at: snmpwire.MustOID("1.3.6.1.2.1.17.4.3.1"),
		count: func(s *Switch) int {
			n, _ := slices.BinarySearchFunc(s.fdb, fdbRow{vlan: 2}, fdbRow.compare)
			return n
		},
		row:   func(s *Switch, i int) fdbRow { return s.fdb[i] },
		index: func(_ *Switch, r fdbRow, dst oid) oid { return appendMAC(dst, r.mac) },
	}
	return []object{
		t.newColumn(1, "dot1dTpFdbAddress", func(_ *Switch, r fdbRow) value {
			return snmpwire.Octets(slices.Clone(r.mac[:]))
		}),
		t.newColumn(2, "dot1dTpFdbPort", func(_ *Switch, r fdbRow) value {
			return snmpwire.Int32(int(r.port))
		}),
		t.newColumn(3, "dot1dTpFdbStatus", func(_ *Switch, r fdbRow) value {
			return snmpwire.Int32(int(r.kind))
		}),
	}
}
