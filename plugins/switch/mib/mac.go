package mib

import (
	"encoding/hex"
	"fmt"
	"net"
	"strings"
)

// MAC is a 48-bit address as a number, as node-id and mac-address have it.
type MAC uint64

// ParseMAC reads an address of six octets in hexadecimal: with colons or dashes
// between them, leading zeros left out or not (net-snmp and the kernel's bridges
// print 2:0:de:91:64:42), four digits and dots, or twelve digits. The eight-octet
// form of PrintDB (two zero octets in front) is also accepted.
func ParseMAC(s string) (MAC, error) {
	plain := strings.TrimSpace(s)
	width := 2
	if strings.Contains(plain, ".") {
		width = 4
	}
	groups := strings.FieldsFunc(plain, func(r rune) bool {
		return strings.ContainsRune(":-.", r)
	})
	if len(groups) > 1 {
		for i, g := range groups {
			if width == 2 && len(g) == 1 {
				g = "0" + g
			}
			if len(g) != width {
				g = "?"
			}
			groups[i] = g
		}
		plain = strings.Join(groups, "")
	}
	b, err := hex.DecodeString(plain)
	if err == nil && len(b) == 8 && b[0] == 0 && b[1] == 0 {
		b = b[2:]
	}
	if err != nil || len(b) != 6 {
		return 0, fmt.Errorf(
			"%q is not a MAC address; write six octets in hexadecimal, 90:94:e4:23:13:e0",
			s,
		)
	}
	return MACFromBytes(b), nil
}

// MACFromBytes makes an address of six octets; 0 for any other length.
func MACFromBytes(b []byte) MAC {
	if len(b) != 6 {
		return 0
	}
	var m MAC
	for _, o := range b {
		m = m<<8 | MAC(o)
	}
	return m
}

// MACOf reads an address that a device sent: six octets, or their text form, as
// some agents give it. 0 means no address.
func MACOf(b []byte) MAC {
	switch len(b) {
	case 6:
		return MACFromBytes(b)
	case 11, 12, 13, 14, 15, 16, 17:
		if m, err := ParseMAC(string(b)); err == nil {
			return m
		}
	}
	return 0
}

// MACFromArcs makes an address of six arcs of an index.
func MACFromArcs(arcs []uint32) (MAC, bool) {
	if len(arcs) != 6 {
		return 0, false
	}
	var m MAC
	for _, a := range arcs {
		if a > 255 {
			return 0, false
		}
		m = m<<8 | MAC(a)
	}
	return m, true
}

// Arcs returns the six octets as arcs of an index.
func (m MAC) Arcs() []uint32 {
	return []uint32{uint32(m>>40) & 255, uint32(m>>32) & 255, uint32(m>>24) & 255, uint32(m>>16) & 255, uint32(m>>8) & 255, uint32(m) & 255}
}

// Octets returns the six octets.
func (m MAC) Octets() []byte {
	return []byte{byte(m >> 40), byte(m >> 32), byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}
}

// Valid reports whether the number has no more than 48 bits.
func (m MAC) Valid() bool { return m < 1<<48 }

// Unicast reports whether the address is of one station: not zero, and the group
// bit of the first octet is clear.
func (m MAC) Unicast() bool {
	return m != 0 && m.Valid() && m>>40&1 == 0
}

// String returns the address as lower-case octets with colons.
func (m MAC) String() string { return ColonHex(m.Octets()) }

// ColonHex returns octets in lower-case hexadecimal with colons.
func ColonHex(b []byte) string {
	return net.HardwareAddr(b).String()
}
