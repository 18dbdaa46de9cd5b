package bier

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// BSL is a length of bit strings in bits, 0 = not given. In JSON it has the form
// of the enumeration of ietf-bier, "256-bit".
type BSL uint16

// BSLs are the lengths there are (RFC 8296 section 2.1.2, codes 1 to 7).
var BSLs = []BSL{64, 128, 256, 512, 1024, 2048, 4096}

// Valid reports whether b is one of BSLs.
func (b BSL) Valid() bool { return slices.Contains(BSLs, b) }

// String is the form of the enumeration.
func (b BSL) String() string { return strconv.Itoa(int(b)) + "-bit" }

// MarshalJSON writes the enumeration.
func (b BSL) MarshalJSON() ([]byte, error) { return json.Marshal(b.String()) }

// UnmarshalJSON reads "256-bit" or 256.
func (b *BSL) UnmarshalJSON(text []byte) error {
	s := strings.TrimSuffix(strings.Trim(string(text), `"`), "-bit")
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || !BSL(n).Valid() {
		return fmt.Errorf("%.40s is no bitstringlength; they are %v", text, BSLs)
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
func (b BSL) Bit(id uint16) int { return (int(id)-1)%int(b) + 1 }
