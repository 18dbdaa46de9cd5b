package bier

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		setBit(sets[si], b.Bit(id))
	}
	out := make([]BitString, 0, len(sets))
	for si, s := range sets {
		out = append(out, BitString{si, s})
	}
	slices.SortFunc(out, func(x, y BitString) int { return x.SI - y.SI })
	return out
}

func setBit(s []byte, bit int) {
	s[len(s)-1-(bit-1)/8] |= 1 << ((bit - 1) % 8)
}

// Hex is the bit string in hexadecimal, without leading zero bytes.
func (s BitString) Hex() string {
	i := 0
	for i < len(s.Bits)-1 && s.Bits[i] == 0 {
		i++
	}
	return hex.EncodeToString(s.Bits[i:])
}

// BSL is a length of bit strings in bits, 0 = not given. In JSON it has the form
// of the enumeration of ietf-bier, "256-bit".
type BSL uint16

// BSLs are the lengths there are (RFC 8296 section 2.1.2, codes 1 to 7).
var BSLs = []BSL{64, 128, 256, 512, 1024, 2048, 4096}

// Valid reports whether b is one of BSLs.
func (b BSL) Valid() bool { return slices.Contains(BSLs, b) }

// String is the form of the enumeration.
func (b BSL) String() string {
	return strconv.Itoa(int(b)) + "-bit"
}

// MarshalJSON writes the enumeration.
func (b BSL) MarshalJSON() ([]byte, error) {
	return json.Marshal(b.String())
}

// UnmarshalJSON reads "256-bit" or 256.
func (b *BSL) UnmarshalJSON(text []byte) error {
	s := strings.TrimSuffix(strings.Trim(string(text), `"`), "-bit")
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || !BSL(n).Valid() {
		return fmt.Errorf("%.40s is not a bitstringlength, expected one of %v", text, BSLs)
	}
	*b = BSL(n)
	return nil
}

// MaxSI is the highest set identifier that can be announced: the field has one
// octet (RFC 8401 section 6.2, RFC 8444 section 2.2).
const MaxSI = 255

// SI is the set that a BFR-id is in (RFC 8279 section 3).
func (b BSL) SI(id uint16) int { return (int(id) - 1) / int(b) }

// Bit is the position of a BFR-id in its set, 1 the least significant.
func (b BSL) Bit(id uint16) int {
	return (int(id)-1)%int(b) + 1
}
