package ofp13

import "encoding/binary"

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

// Type implements Message.
func (PacketIn) Type() Type { return TypePacketIn }

func (p PacketIn) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.Buffer)
	b = binary.BigEndian.AppendUint16(b, p.TotalLen)
	b = append(b, p.Reason, p.Table)
	b = binary.BigEndian.AppendUint64(b, p.Cookie)
	return append(pad(p.Match.append(b), 2), p.Data...)
}

func decodePacketIn(r *cursor) PacketIn {
	p := PacketIn{Buffer: r.u32(), TotalLen: r.u16(), Reason: r.u8(), Table: r.u8(), Cookie: r.u64(), Match: decodeMatch(r)}
	r.skip(2)
	p.Data = r.rest()
	return p
}

// PacketOut makes the switch send a packet (7.3.7).
type PacketOut struct {
	InPort  uint32
	Outputs []Output
	Data    []byte
}

// Type implements Message.
func (PacketOut) Type() Type { return TypePacketOut }

func (p PacketOut) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, NoBuffer)
	b = binary.BigEndian.AppendUint32(b, p.InPort)
	b = pad(binary.BigEndian.AppendUint16(b, uint16(len(p.Outputs)*outputLength)), 6)
	for _, o := range p.Outputs {
		b = o.append(b)
	}
	return append(b, p.Data...)
}

func decodePacketOut(r *cursor) PacketOut {
	r.skip(4)
	p := PacketOut{InPort: r.u32()}
	length := int(r.u16())
	r.skip(6)
	actions := cursor{b: r.next(length)}
	p.Outputs = decodeOutputs(&actions)
	p.Data = r.rest()
	r.adopt(&actions)
	return p
}

// adopt takes over what was wrong with a part.
func (c *cursor) adopt(part *cursor) {
	c.short = c.short || part.short
	if c.bad == "" {
		c.bad = part.bad
	}
}
