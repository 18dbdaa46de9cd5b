package frames

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec for all that is not a frame
	"google.golang.org/grpc/mem"
)

// frame is a message nobody decodes.
type frame struct{ data mem.BufferSlice }

type codec struct{ encoding.CodecV2 }

// Codec passes frames through as they are and everything else to protobuf. A server
// that relays must be made with it.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

// Marshal gives the frame's buffers away: a frame is sent once.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if f, ok := v.(*frame); ok {
		return f.data, nil
	}
	return c.CodecV2.Marshal(v)
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if f, ok := v.(*frame); ok {
		data.Ref()
		f.data = data
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
