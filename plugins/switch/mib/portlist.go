package mib

import "slices"

// Ports is a set of bridge port numbers (dot1dBasePort), 1 to 65535.
type Ports map[uint32]bool

// PortsOf makes a set.
func PortsOf(numbers ...uint32) Ports {
	p := make(Ports, len(numbers))
	for _, n := range numbers {
		p[n] = true
	}
	return p
}

// Sorted returns the numbers in ascending order.
func (p Ports) Sorted() []uint32 {
	out := make([]uint32, 0, len(p))
	for n, in := range p {
		if in {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// Union returns the ports of either set.
func (p Ports) Union(q Ports) Ports {
	out := PortsOf(p.Sorted()...)
	for n, in := range q {
		if in {
			out[n] = true
		}
	}
	return out
}

// decodePortBits decodes a PortList (RFC 4363): the most significant bit of the first
// octet is port 1.
func decodePortBits(list []byte) Ports {
	p := Ports{}
	for i, o := range list {
		for bit := uint32(0); o != 0; bit, o = bit+1, o<<1 {
			if o&0x80 != 0 {
				p[uint32(i)*8+bit+1] = true
			}
		}
	}
	return p
}

// PortList decodes a PortList as a switch returns it. known are the ports it has;
// nil when that is not known. Bits of other ports are left out: agents send longer
// lists than they have ports, with rubbish at the end.
func PortList(list []byte, known Ports) Ports {
	return decodePortBits(list).keepKnown(known)
}

// keepKnown returns the ports that are known; all when known is nil.
func (p Ports) keepKnown(known Ports) Ports {
	for n := range p {
		if known != nil && !known[n] {
			delete(p, n)
		}
	}
	return p
}

func isSubset(p, of Ports) bool {
	for n := range p {
		if !of[n] {
			return false
		}
	}
	return true
}

// Update returns old with the bits of exactly the ports in want among known; bits
// of other ports stay as they were. It is as long as old, or as known needs.
func Update(old []byte, known, want Ports) []byte {
	size := len(old)
	for n := range known {
		size = max(size, int(n+7)/8)
	}
	out := make([]byte, size)
	copy(out, old)
	for n := range known {
		i, mask := (n-1)/8, byte(0x80)>>((n-1)%8)
		if want[n] {
			out[i] |= mask
		} else {
			out[i] &^= mask
		}
	}
	return out
}
