package ofp13

import "encoding/binary"

// WholePacket as the length of an output to the controller sends all of it.
const WholePacket uint16 = 0xffff

// Output is the only action used: send to a port (7.2.4, OFPAT_OUTPUT).
type Output struct {
	Port   uint32
	MaxLen uint16 // bytes, for PortController
}

const (
	actionOutput     = 0
	outputLength     = 16
	instructionApply = 4
)

func (o Output) append(b []byte) []byte {
	b = append(b, 0, actionOutput, 0, outputLength)
	b = binary.BigEndian.AppendUint32(b, o.Port)
	return pad(binary.BigEndian.AppendUint16(b, o.MaxLen), 6)
}

func decodeOutputs(r *cursor) []Output {
	var out []Output
	for len(r.b) > 0 {
		kind, length := r.u16(), r.u16()
		if kind != actionOutput || length != outputLength {
			if !r.short {
				r.bad = "an action is not an output"
			}
			return nil
		}
		out = append(out, Output{Port: r.u32(), MaxLen: r.u16()})
		r.skip(6)
	}
	return out
}
