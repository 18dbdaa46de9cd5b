package snmpwire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxArcs is the greatest number of arcs of an OID (RFC 2578 section 3.5).
const MaxArcs = 128

// OID is an object identifier, one arc an element.
type OID []uint32

// ParseOID reads the dotted form, with or without a leading dot. It refuses
// an empty text, arcs above 4294967295 and more than MaxArcs arcs.
func ParseOID(s string) (OID, error) {
	parts := strings.Split(strings.TrimPrefix(s, "."), ".")
	if len(parts) > MaxArcs {
		return nil, fmt.Errorf(
			"OID %.40q… has %d arcs, at most %d are allowed",
			s,
			len(parts),
			MaxArcs,
		)
	}
	o := make(OID, len(parts))
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return nil, fmt.Errorf(
				"OID %.80q: arc %d, %.20q, is not a number from 0 to 4294967295",
				s,
				i+1,
				p,
			)
		}
		o[i] = uint32(n)
	}
	return o, nil
}

// MustOID is ParseOID for constants; it panics when s is not an OID.
func MustOID(s string) OID {
	o, err := ParseOID(s)
	if err != nil {
		panic(err)
	}
	return o
}

// String returns the dotted form without a leading dot.
func (o OID) String() string {
	b := make([]byte, 0, 4*len(o))
	for i, a := range o {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendUint(b, uint64(a), 10)
	}
	return string(b)
}

// Compare orders OIDs lexicographically, as GETNEXT does.
func (o OID) Compare(p OID) int { return slices.Compare(o, p) }

// HasPrefix reports whether o is p or lies below it.
func (o OID) HasPrefix(p OID) bool {
	return len(o) >= len(p) && slices.Equal(o[:len(p)], p)
}

// Append returns a new OID: o followed by arcs.
func (o OID) Append(arcs ...uint32) OID {
	return append(append(make(OID, 0, len(o)+len(arcs)), o...), arcs...)
}
