package ofp13

import "encoding/binary"

// Match is struct ofp_match (7.2.2) with the fields that are used here; a nil field
// matches everything. Others that a packet-in brings are passed over.
type Match struct {
	InPort  *uint32
	EthType *uint16
}

const (
	matchOXM      = 1
	classBasic    = 0x8000
	fieldInPort   = 0
	fieldEthType  = 5
	oxmHeaderSize = 4
)

func (m Match) append(b []byte) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, matchOXM)
	b = append(b, 0, 0)
	if m.InPort != nil {
		b = append(b, classBasic>>8, classBasic&0xff, fieldInPort<<1, 4)
		b = binary.BigEndian.AppendUint32(b, *m.InPort)
	}
	if m.EthType != nil {
		b = append(b, classBasic>>8, classBasic&0xff, fieldEthType<<1, 2)
		b = binary.BigEndian.AppendUint16(b, *m.EthType)
	}
	n := len(b) - start
	binary.BigEndian.PutUint16(b[start+2:], uint16(n))
	return pad(b, padding(n))
}

func decodeMatch(r *cursor) Match {
	var m Match
	kind, length := r.u16(), int(r.u16())
	if length < 4 || kind != matchOXM {
		if !r.short {
			r.bad = "its match is no OXM match"
		}
		return m
	}
	fields := cursor{b: r.next(length - 4)}
	r.skip(padding(length))
	for len(fields.b) >= oxmHeaderSize {
		class, field, size := fields.u16(), fields.u8(), int(fields.u8())
		value := cursor{b: fields.next(size)}
		if fields.short {
			break
		}
		switch {
		case class == classBasic && field == fieldInPort<<1 && size == 4:
			v := value.u32()
			m.InPort = &v
		case class == classBasic && field == fieldEthType<<1 && size == 2:
			v := value.u16()
			m.EthType = &v
		}
	}
	if fields.short || len(fields.b) > 0 {
		r.bad = "a field of its match is cut short"
	}
	return m
}
