package mib

import (
	"slices"
	"strconv"
	"strings"
)

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

// bits decodes a PortList (RFC 4363): the most significant bit of the first
// octet is port 1.
func bits(list []byte) Ports {
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
// lists than they have ports, with rubbish at the end. Some answer a comma list of
// port numbers in ASCII instead of bits; that is taken when only as such it makes sense.
func PortList(list []byte, known Ports) Ports {
	p := bits(list)
	if known == nil {
		if text, ok := textPorts(list); ok && strings.ContainsRune(string(list), ',') {
			return text
		}
		return p
	}
	if !subset(p, known) {
		if text, ok := textPorts(list); ok && subset(text, known) {
			return text
		}
	}
	for n := range p {
		if !known[n] {
			delete(p, n)
		}
	}
	return p
}

// IsText reports whether the list is a comma list of port numbers in ASCII, which
// cannot be written back as bits.
func IsText(list []byte, known Ports) bool {
	text, ok := textPorts(list)
	return ok && len(text) > 0 && known != nil && subset(text, known) && !subset(bits(list), known)
}

func subset(p, of Ports) bool {
	for n := range p {
		if !of[n] {
			return false
		}
	}
	return true
}

func textPorts(list []byte) (Ports, bool) {
	p := Ports{}
	for item := range strings.SplitSeq(string(list), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(item), 10, 16)
		if err != nil || n == 0 {
			return nil, false
		}
		p[uint32(n)] = true
	}
	return p, true
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
