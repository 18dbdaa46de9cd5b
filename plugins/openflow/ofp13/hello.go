package ofp13

import "encoding/binary"

// Hello opens a connection (7.5.1). Versions has bit N set when the sender speaks
// version N, and is zero when it sent only its highest, in the header.
type Hello struct{ Versions uint32 }

// Type implements Message.
func (Hello) Type() Type { return TypeHello }

const elementVersions = 1

func (h Hello) append(b []byte) []byte {
	if h.Versions == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint16(b, elementVersions)
	b = binary.BigEndian.AppendUint16(b, 8)
	return binary.BigEndian.AppendUint32(b, h.Versions)
}

// decodeHello takes the first bitmap of the first element of that type; elements
// that are not known are passed over, as 7.5.1 demands.
func decodeHello(r *cursor) Hello {
	for len(r.b) >= 4 {
		kind, length := r.u16(), int(r.u16())
		if length < 4 {
			r.bad = "an element of a HELLO is shorter than its header"
			return Hello{}
		}
		body := cursor{b: r.next(length - 4)}
		if r.short {
			return Hello{}
		}
		if kind == elementVersions && length >= 8 {
			return Hello{Versions: body.u32()}
		}
		r.skip(min(padding(length), len(r.b)))
	}
	return Hello{}
}

// padding is what follows n bytes up to a multiple of eight.
func padding(n int) int { return (8 - n%8) % 8 }

// Speaks reports whether a peer with this HELLO, whose header has version,
// speaks OpenFlow 1.3.
func (h Hello) Speaks(version uint8) bool {
	if h.Versions != 0 {
		return h.Versions&(1<<Version) != 0
	}
	return version >= Version
}
