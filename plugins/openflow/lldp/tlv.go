package lldp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of TLVs (table 8-1).
const (
	typeEnd        = 0
	typeChassisID  = 1
	typePortID     = 2
	typeTTL        = 3
	typeSystemName = 5
	typeOrganized  = 127
)

// maxValue is the length of nine bits.
const maxValue = 511

// tlv is one TLV of a frame.
type tlv struct {
	kind  uint8
	value []byte
}

func appendTLV(b []byte, kind uint8, value []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(kind)<<9|uint16(len(value)))
	return append(b, value...)
}

var errShort = errors.New("a TLV is cut short")

// parse reads the TLVs up to the end TLV. The three mandatory ones come first, in
// their order (8.2).
func parse(b []byte) ([]tlv, error) {
	var out []tlv
	for {
		if len(b) < 2 {
			return nil, errShort
		}
		head := binary.BigEndian.Uint16(b)
		kind, n := uint8(head>>9), int(head&maxValue)
		if kind == typeEnd {
			break
		}
		if len(b) < 2+n {
			return nil, errShort
		}
		if want := uint8(len(out) + 1); want <= typeTTL && kind != want {
			return nil, fmt.Errorf("TLV %d is of type %d, must be %d", want, kind, want)
		}
		out = append(out, tlv{kind, b[2 : 2+n]})
		b = b[2+n:]
	}
	if len(out) < typeTTL {
		return nil, errors.New("a mandatory TLV is missing")
	}
	return out, nil
}
