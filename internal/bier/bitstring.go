package bier

import (
	"encoding/hex"
	"slices"
)

// BitString is the bit string of one set. Bit 1 is the lowest bit of the last byte.
type BitString struct {
	SI   int
	Bits []byte // BSL/8 of them, in the order of the header (RFC 8296 section 2.1.2)
}

// BitStrings returns the bit strings that reach some BFR-ids, in ascending order of
// their sets: as many copies leave the ingress (RFC 8279 section 3). The id 0 has no bit.
func BitStrings(b BSL, ids []uint16) []BitString {
	sets := map[int][]byte{}
	for _, id := range ids {
		if id == 0 {
			continue
		}
		si := b.SI(id)
		if sets[si] == nil {
			sets[si] = make([]byte, b/8)
		}
		set(sets[si], b.Bit(id))
	}
	out := make([]BitString, 0, len(sets))
	for si, s := range sets {
		out = append(out, BitString{si, s})
	}
	slices.SortFunc(out, func(x, y BitString) int { return x.SI - y.SI })
	return out
}

func set(s []byte, bit int) { s[len(s)-1-(bit-1)/8] |= 1 << ((bit - 1) % 8) }

// Hex is the bit string in hexadecimal, without leading zero bytes.
func (s BitString) Hex() string {
	i := 0
	for i < len(s.Bits)-1 && s.Bits[i] == 0 {
		i++
	}
	return hex.EncodeToString(s.Bits[i:])
}
