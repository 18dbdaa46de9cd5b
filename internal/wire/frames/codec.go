package frames

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec for all that is not a frame
	"google.golang.org/grpc/mem"
)

// frame is a message nobody decodes.
type frame struct{ data mem.BufferSlice }

// Message is a whole message that nobody decodes: the request or the answer of a
// unary call that is carried on.
type Message struct{ Body []byte }

type codec struct{ encoding.CodecV2 }

// Codec passes frames through as they are and everything else to protobuf. A server
// that relays must be made with it.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

// Marshal gives the frame's buffers away: a frame is sent once.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case *frame:
		return m.data, nil
	case *Message:
		return mem.BufferSlice{mem.SliceBuffer(m.Body)}, nil
	}
	return c.CodecV2.Marshal(v)
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch m := v.(type) {
	case *frame:
		data.Ref()
		m.data = data
		return nil
	case *Message:
		m.Body = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
