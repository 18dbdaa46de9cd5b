package ofp13

import "encoding/binary"

// Commands of a FlowMod, and its flag.
const (
	FlowAdd    = 0
	FlowDelete = 3
	// FlowDeleteStrict removes only the rule of exactly that match and priority.
	FlowDeleteStrict = 4

	FlagCheckOverlap = 1 << 1 // refuse when another rule of the priority overlaps

	AllTables uint8 = 0xff // for FlowDelete
)

// FlowMod changes rules (7.3.4.1). Outputs is what is done with a packet; empty =
// it is dropped.
type FlowMod struct {
	Cookie, CookieMask uint64
	Table, Command     uint8
	Priority, Flags    uint16
	Match              Match
	Outputs            []Output
}

// Type implements Message.
func (FlowMod) Type() Type { return TypeFlowMod }

func (f FlowMod) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, f.Cookie)
	b = binary.BigEndian.AppendUint64(b, f.CookieMask)
	b = pad(append(b, f.Table, f.Command), 4) // no timeouts
	b = binary.BigEndian.AppendUint16(b, f.Priority)
	b = binary.BigEndian.AppendUint32(b, NoBuffer)
	b = binary.BigEndian.AppendUint32(b, PortAny)
	b = binary.BigEndian.AppendUint32(b, PortAny) // OFPG_ANY has the same number
	b = pad(binary.BigEndian.AppendUint16(b, f.Flags), 2)
	b = f.Match.append(b)
	if len(f.Outputs) == 0 {
		return b
	}
	b = append(b, 0, instructionApply)
	b = pad(binary.BigEndian.AppendUint16(b, uint16(8+len(f.Outputs)*outputLength)), 4)
	for _, o := range f.Outputs {
		b = o.append(b)
	}
	return b
}

func decodeFlowMod(r *cursor) FlowMod {
	f := FlowMod{Cookie: r.u64(), CookieMask: r.u64(), Table: r.u8(), Command: r.u8()}
	r.skip(4)
	f.Priority = r.u16()
	r.skip(12)
	f.Flags = r.u16()
	r.skip(2)
	f.Match = decodeMatch(r)
	if len(r.b) == 0 {
		return f
	}
	kind, length := r.u16(), int(r.u16())
	if kind != instructionApply || length < 8 {
		r.bad = "an instruction does not apply actions"
		return f
	}
	r.skip(4)
	actions := cursor{b: r.next(length - 8)}
	f.Outputs = decodeOutputs(&actions)
	r.adopt(&actions)
	if len(r.b) > 0 {
		r.bad = "there is more than one instruction"
	}
	return f
}
