// Package frames carries gRPC calls on without decoding their messages: the relay
// of the host between plugins, and that of the host in package plugintest. Authors
// of plugins do not need it.
package frames

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec for all that is not a frame
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
)

var bothWays = &grpc.StreamDesc{
	ServerStreams: true,
	ClientStreams: true,
}

// Pump calls method on conn with the metadata md and carries messages both ways
// between it and the call in, until one side ends. It returns the error of the
// called side, or the cause with which cancel was called.
func Pump(
	ctx context.Context,
	cancel context.CancelCauseFunc,
	in grpc.ServerStream,
	conn grpc.ClientConnInterface,
	method string,
	md metadata.MD,
) error {
	out, err := conn.NewStream(metadata.NewOutgoingContext(ctx, md), bothWays, method, grpc.ForceCodecV2(Codec()),
		grpc.MaxCallRecvMsgSize(wire.MaxMessage), grpc.MaxCallSendMsgSize(wire.MaxMessage))
	if err != nil {
		return err
	}
	go pumpRequests(in, out, cancel)
	err = pumpAnswers(in, out)
	in.SetTrailer(Passing(out.Trailer()))
	return err
}

// pumpRequests ends with the stream it reads from, which gRPC ends with the handler.
func pumpRequests(in grpc.ServerStream, out grpc.ClientStream, cancel context.CancelCauseFunc) {
	for {
		f := &Message{}
		if err := in.RecvMsg(f); errors.Is(err, io.EOF) {
			_ = out.CloseSend()
			return
		} else if err != nil {
			cancel(err)
			return
		}
		if err := out.SendMsg(f); err != nil {
			return // the reason comes with the answer
		}
	}
}

func pumpAnswers(in grpc.ServerStream, out grpc.ClientStream) error {
	if h, err := out.Header(); err == nil {
		if err := in.SendHeader(Passing(h)); err != nil {
			return err
		}
	}
	for {
		f := &Message{}
		if err := out.RecvMsg(f); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := in.SendMsg(f); err != nil {
			return err
		}
	}
}

// Passing returns the metadata that belongs to the call and not to one connection;
// names that begin with "ctl-" are the host's and do not pass.
func Passing(md metadata.MD) metadata.MD {
	out := metadata.MD{}
	for k, v := range md {
		switch {
		case strings.HasPrefix(k, ":"), strings.HasPrefix(k, "ctl-"), k == "content-type", k == "user-agent",
			strings.HasPrefix(k, "grpc-") && !strings.HasSuffix(k, "-bin"):
		default:
			out[k] = v
		}
	}
	return out
}

// Message is a whole message that is not decoded: of a stream, or the request or the
// answer of a unary call that is carried on.
type Message struct{ Body []byte }

type codec struct{ encoding.CodecV2 }

// Codec passes a Message through as it is and everything else to protobuf. A server
// that relays must be made with it.
func Codec() encoding.CodecV2 {
	return codec{encoding.GetCodecV2("proto")}
}

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*Message); ok {
		return mem.BufferSlice{mem.SliceBuffer(m.Body)}, nil
	}
	return c.CodecV2.Marshal(v)
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ok := v.(*Message); ok {
		m.Body = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
