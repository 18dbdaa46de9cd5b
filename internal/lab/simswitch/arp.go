package simswitch

import (
	"net/netip"
	"slices"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// The values of ipNetToMediaType.
const (
	arpInvalid = 2
	arpDynamic = 3
	arpStatic  = 4
)

// arpRow is a row of ipNetToMediaTable; all rows are on the management interface.
type arpRow struct {
	ip   [4]byte
	mac  MAC
	kind uint8
}

func arpTable() table[*arpRow] {
	return table[*arpRow]{
		at:    snmpwire.MustOID("1.3.6.1.2.1.4.22.1"),
		count: func(s *Switch) int { return len(s.arp) },
		row:   func(s *Switch, i int) *arpRow { return &s.arp[i] },
		index: func(s *Switch, r *arpRow, dst oid) oid {
			return appendIP(append(dst, uint32(s.cfg.Profile.SVI)), netip.AddrFrom4(r.ip))
		},
	}
}

// arpObjects is ipNetToMediaTable of IP-MIB. A row is made by its physical
// address and the type static in one PDU, and deleted by the type invalid.
func arpObjects() []object {
	t := arpTable()
	mac := t.newColumn(2, "ipNetToMediaPhysAddress", func(_ *Switch, r *arpRow) value {
		return snmpwire.Octets(slices.Clone(r.mac[:]))
	})
	mac.Syntax = snmpagent.Syntax{
		Tag: snmpwire.OctetString,
		Min: 6,
		Max: 6,
	}
	mac.Set = setARPAddress
	kind := t.newColumn(4, "ipNetToMediaType", func(_ *Switch, r *arpRow) value {
		return snmpwire.Int32(int(r.kind))
	})
	kind.Syntax, kind.First, kind.Set = integerSyntax(1, 4), true, setARPType
	return []object{
		t.newColumn(1, "ipNetToMediaIfIndex", func(s *Switch, _ *arpRow) value {
			return snmpwire.Int32(s.cfg.Profile.SVI)
		}),
		mac,
		t.newColumn(3, "ipNetToMediaNetAddress", func(_ *Switch, r *arpRow) value {
			return value{
				Tag:   snmpwire.IPAddress,
				Bytes: slices.Clone(r.ip[:]),
			}
		}),
		kind,
	}
}

// arpIndex checks an index that may not exist yet.
func (s *Switch) arpIndex(inst oid) ([4]byte, status) {
	var ip [4]byte
	if len(inst) != 5 || inst[0] != uint32(s.cfg.Profile.SVI) {
		return ip, snmpwire.NoCreation
	}
	for i, a := range inst[1:] {
		if a > 255 {
			return ip, snmpwire.NoCreation
		}
		ip[i] = byte(a)
	}
	addr := netip.AddrFrom4(ip)
	if !s.cfg.Address.Masked().Contains(addr) || addr == s.cfg.Address.Addr() {
		return ip, snmpwire.InconsistentName // not a neighbour of the management interface
	}
	return ip, snmpwire.NoError
}

func setARPType(s *Switch, t tx, inst oid, v value) status {
	if v.Int == arpInvalid { // deleting what is not there succeeds on real switches
		if r, ok := arpTable().findRow(s, inst); ok {
			s.saveARP(t)
			ip := r.ip
			s.arp = slices.DeleteFunc(s.arp, func(r arpRow) bool { return r.ip == ip })
		}
		return snmpwire.NoError
	}
	if v.Int < arpDynamic {
		return snmpwire.WrongValue
	}
	if r, ok := arpTable().findRow(s, inst); ok {
		s.saveARP(t)
		r.kind = uint8(v.Int)
		return snmpwire.NoError
	}
	ip, st := s.arpIndex(inst)
	if st != snmpwire.NoError {
		return st
	}
	s.saveARP(t)
	s.putARP(arpRow{ip: ip, kind: uint8(v.Int)})
	t.Check(func() status {
		r, ok := arpTable().findRow(s, inst)
		if ok && r.mac == (MAC{}) {
			return snmpwire.InconsistentValue // no address came with it
		}
		return snmpwire.NoError
	})
	return snmpwire.NoError
}

func setARPAddress(s *Switch, t tx, inst oid, v value) status {
	r, ok := arpTable().findRow(s, inst)
	if !ok {
		if _, st := s.arpIndex(inst); st != snmpwire.NoError {
			return st
		}
		return snmpwire.InconsistentName
	}
	if v.Bytes[0]&1 != 0 || MAC(v.Bytes) == (MAC{}) {
		return snmpwire.WrongValue
	}
	s.saveARP(t)
	r.mac = MAC(v.Bytes)
	return snmpwire.NoError
}

// saveARP lets an assignment be undone: the table is short.
func (s *Switch) saveARP(t tx) {
	old := slices.Clone(s.arp)
	t.Undo(func() { s.arp = old })
}

func (s *Switch) putARP(r arpRow) {
	i, found := slices.BinarySearchFunc(s.arp, r, func(a, b arpRow) int {
		return slices.Compare(a.ip[:], b.ip[:])
	})
	if found {
		s.arp[i] = r
		return
	}
	s.arp = slices.Insert(s.arp, i, r)
}

// LearnARP adds a dynamic row to ipNetToMediaTable.
func (s *Switch) LearnARP(ip netip.Addr, mac MAC) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putARP(arpRow{ip.As4(), mac, arpDynamic})
}
