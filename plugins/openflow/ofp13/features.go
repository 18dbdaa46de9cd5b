package ofp13

import "encoding/binary"

// FeaturesReply says who the switch is (7.3.1).
type FeaturesReply struct {
	DatapathID   uint64
	Buffers      uint32
	Tables       uint8
	Auxiliary    uint8 // 0 = the main connection
	Capabilities uint32
}

// Type implements Message.
func (FeaturesReply) Type() Type { return TypeFeaturesReply }

func (f FeaturesReply) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, f.DatapathID)
	b = binary.BigEndian.AppendUint32(b, f.Buffers)
	b = append(b, f.Tables, f.Auxiliary, 0, 0)
	b = binary.BigEndian.AppendUint32(b, f.Capabilities)
	return pad(b, 4)
}

func decodeFeatures(r *cursor) FeaturesReply {
	f := FeaturesReply{DatapathID: r.u64(), Buffers: r.u32(), Tables: r.u8(), Auxiliary: r.u8()}
	r.skip(2)
	f.Capabilities = r.u32()
	r.skip(4)
	return f
}
