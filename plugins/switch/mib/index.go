package mib

import "net/netip"

// VID is an 802.1Q VLAN id, 1 to 4094.
type VID = uint32

// FDBIndex decodes the index of dot1qTpFdbTable: the filtering database and the
// address, with or without the length arc some agents put before the address.
func FDBIndex(ix []uint32) (fdb uint32, mac MAC, ok bool) {
	switch {
	case len(ix) == 7:
	case len(ix) == 8 && ix[1] == 6:
		ix = append([]uint32{ix[0]}, ix[2:]...)
	default:
		return 0, 0, false
	}
	mac, ok = MACFromArcs(ix[1:])
	return ix[0], mac, ok
}

// TimedVID decodes the index of dot1qVlanCurrentTable: TimeMark and VLAN.
func TimedVID(ix []uint32) (mark uint32, vid VID, ok bool) {
	if len(ix) != 2 {
		return 0, 0, false
	}
	return ix[0], ix[1], true
}

// InterfaceAddress decodes the index of ipNetToMediaTable: the interface and the
// IPv4 address.
func InterfaceAddress(ix []uint32) (ifIndex uint32, a netip.Addr, ok bool) {
	if len(ix) != 5 {
		return 0, netip.Addr{}, false
	}
	a, ok = IPv4(ix[1:])
	return ix[0], a, ok
}

// PhysicalIndex decodes the index of ipNetToPhysicalTable: the interface and the IP address, with the zone that some
// agents put after it.
func PhysicalIndex(ix []uint32) (ifIndex uint32, a netip.Addr, ok bool) {
	if len(ix) < 3 {
		return 0, netip.Addr{}, false
	}
	octets := ix[2:]
	size := map[uint32]int{1: 4, 2: 16, 3: 8, 4: 20}[ix[1]]
	if len(octets) == size+1 && octets[0] == uint32(size) {
		octets = octets[1:]
	}
	if size == 0 || len(octets) != size {
		return 0, netip.Addr{}, false
	}
	a, ok = addressFromArcs(octets[:map[bool]int{
		true:  4,
		false: 16,
	}[ix[1]%2 == 1]])
	return ix[0], a, ok
}

// IPv4 makes an address of four arcs of an index.
func IPv4(arcs []uint32) (netip.Addr, bool) {
	a, ok := addressFromArcs(arcs)
	return a, ok && a.Is4()
}

// addressFromArcs makes an address of arcs that are its octets.
func addressFromArcs(arcs []uint32) (netip.Addr, bool) {
	b := make([]byte, len(arcs))
	for i, a := range arcs {
		if a > 255 {
			return netip.Addr{}, false
		}
		b[i] = byte(a)
	}
	return netip.AddrFromSlice(b)
}

// IPv4Arcs returns the four octets as arcs of an index.
func IPv4Arcs(a netip.Addr) []uint32 {
	b := a.As4()
	return []uint32{uint32(b[0]), uint32(b[1]), uint32(b[2]), uint32(b[3])}
}

// RemoteIndex is the index of lldpRemTable. The TimeMark is no part of a
// neighbour's identity: it changes whenever the neighbour is learned again.
type RemoteIndex struct {
	Mark, LocalPort, Index uint32
}

// LLDPRemote decodes the index of lldpRemTable.
func LLDPRemote(ix []uint32) (RemoteIndex, bool) {
	if len(ix) != 3 {
		return RemoteIndex{}, false
	}
	return RemoteIndex{ix[0], ix[1], ix[2]}, true
}

// LLDPManagement decodes the index of lldpRemManAddrTable: the neighbour, the
// IANA address family, and the address, with or without its length arc.
func LLDPManagement(ix []uint32) (RemoteIndex, netip.Addr, bool) {
	if len(ix) < 4+4 {
		return RemoteIndex{}, netip.Addr{}, false
	}
	size := map[uint32]int{1: 4, 2: 16}[ix[3]]
	rest := ix[4:]
	if size != 0 && len(rest) == size+1 && rest[0] == uint32(size) {
		rest = rest[1:]
	}
	if size == 0 || len(rest) != size {
		return RemoteIndex{}, netip.Addr{}, false
	}
	addr, ok := addressFromArcs(rest)
	return RemoteIndex{ix[0], ix[1], ix[2]}, addr, ok
}
