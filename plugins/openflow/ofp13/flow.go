package ofp13

import (
	"encoding/binary"
)

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

func (f FlowMod) appendBinary(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, f.Cookie)
	b = binary.BigEndian.AppendUint64(b, f.CookieMask)
	b = appendZeros(append(b, f.Table, f.Command), 4) // no timeouts
	b = binary.BigEndian.AppendUint16(b, f.Priority)
	b = binary.BigEndian.AppendUint32(b, NoBuffer)
	b = binary.BigEndian.AppendUint32(b, PortAny)
	b = binary.BigEndian.AppendUint32(b, PortAny) // OFPG_ANY has the same number
	b = appendZeros(binary.BigEndian.AppendUint16(b, f.Flags), 2)
	b = f.Match.appendBinary(b)
	if len(f.Outputs) == 0 {
		return b
	}
	b = append(b, 0, instructionApply)
	b = appendZeros(binary.BigEndian.AppendUint16(b, uint16(8+len(f.Outputs)*outputLength)), 4)
	for _, o := range f.Outputs {
		b = o.appendBinary(b)
	}
	return b
}

func decodeFlowMod(r *cursor) FlowMod {
	f := FlowMod{
		Cookie:     r.readUint64(),
		CookieMask: r.readUint64(),
		Table:      r.readUint8(),
		Command:    r.readUint8(),
	}
	r.skipBytes(4)
	f.Priority = r.readUint16()
	r.skipBytes(12)
	f.Flags = r.readUint16()
	r.skipBytes(2)
	f.Match = decodeMatch(r)
	if len(r.b) == 0 {
		return f
	}
	kind, length := r.readUint16(), int(r.readUint16())
	if kind != instructionApply || length < 8 {
		r.bad = "an instruction does not apply actions"
		return f
	}
	r.skipBytes(4)
	actions := cursor{b: r.nextBytes(length - 8)}
	f.Outputs = decodeOutputs(&actions)
	r.adoptErrors(&actions)
	if len(r.b) > 0 {
		r.bad = "there is more than one instruction"
	}
	return f
}

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

func (m Match) appendBinary(b []byte) []byte {
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
	return appendZeros(b, paddingLength(n))
}

func decodeMatch(r *cursor) Match {
	var m Match
	kind, length := r.readUint16(), int(r.readUint16())
	if length < 4 || kind != matchOXM {
		if !r.short {
			r.bad = "its match is no OXM match"
		}
		return m
	}
	fields := cursor{b: r.nextBytes(length - 4)}
	r.skipBytes(paddingLength(length))
	for len(fields.b) >= oxmHeaderSize {
		class := fields.readUint16()
		field := fields.readUint8()
		size := int(fields.readUint8())
		value := cursor{b: fields.nextBytes(size)}
		if fields.short {
			break
		}
		switch {
		case class == classBasic && field == fieldInPort<<1 && size == 4:
			v := value.readUint32()
			m.InPort = &v
		case class == classBasic && field == fieldEthType<<1 && size == 2:
			v := value.readUint16()
			m.EthType = &v
		}
	}
	if fields.short || len(fields.b) > 0 {
		r.bad = "a field of its match is cut short"
	}
	return m
}

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

func (o Output) appendBinary(b []byte) []byte {
	b = append(b, 0, actionOutput, 0, outputLength)
	b = binary.BigEndian.AppendUint32(b, o.Port)
	return appendZeros(binary.BigEndian.AppendUint16(b, o.MaxLen), 6)
}

func decodeOutputs(r *cursor) []Output {
	var out []Output
	for len(r.b) > 0 {
		kind, length := r.readUint16(), r.readUint16()
		if kind != actionOutput || length != outputLength {
			if !r.short {
				r.bad = "an action is not an output"
			}
			return nil
		}
		out = append(out, Output{
			Port:   r.readUint32(),
			MaxLen: r.readUint16(),
		})
		r.skipBytes(6)
	}
	return out
}

// NoBuffer says that the packet is in the message and not in the switch.
const NoBuffer uint32 = 0xffffffff

// PacketIn is a packet that a rule sent up (7.4.1).
type PacketIn struct {
	Buffer   uint32
	TotalLen uint16 // of the packet; Data may be shorter
	Reason   uint8
	Table    uint8
	Cookie   uint64
	Match    Match
	Data     []byte
}

func (p PacketIn) appendBinary(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.Buffer)
	b = binary.BigEndian.AppendUint16(b, p.TotalLen)
	b = append(b, p.Reason, p.Table)
	b = binary.BigEndian.AppendUint64(b, p.Cookie)
	return append(appendZeros(p.Match.appendBinary(b), 2), p.Data...)
}

func decodePacketIn(r *cursor) PacketIn {
	p := PacketIn{
		Buffer:   r.readUint32(),
		TotalLen: r.readUint16(),
		Reason:   r.readUint8(),
		Table:    r.readUint8(),
		Cookie:   r.readUint64(),
		Match:    decodeMatch(r),
	}
	r.skipBytes(2)
	p.Data = r.restBytes()
	return p
}

// PacketOut makes the switch send a packet (7.3.7).
type PacketOut struct {
	InPort  uint32
	Outputs []Output
	Data    []byte
}

func (p PacketOut) appendBinary(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, NoBuffer)
	b = binary.BigEndian.AppendUint32(b, p.InPort)
	b = appendZeros(binary.BigEndian.AppendUint16(b, uint16(len(p.Outputs)*outputLength)), 6)
	for _, o := range p.Outputs {
		b = o.appendBinary(b)
	}
	return append(b, p.Data...)
}

func decodePacketOut(r *cursor) PacketOut {
	r.skipBytes(4)
	p := PacketOut{InPort: r.readUint32()}
	length := int(r.readUint16())
	r.skipBytes(6)
	actions := cursor{b: r.nextBytes(length)}
	p.Outputs = decodeOutputs(&actions)
	p.Data = r.restBytes()
	r.adoptErrors(&actions)
	return p
}

// adoptErrors takes over what was wrong with a part.
func (c *cursor) adoptErrors(part *cursor) {
	c.short = c.short || part.short
	if c.bad == "" {
		c.bad = part.bad
	}
}
