package link

import (
	"context"
	"fmt"
	"math"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/wire/frames"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// maxRequest is the largest request that goes over the link: larger ones would hold
// up the small ones after them, and a separate call costs little.
const maxRequest = 16 << 10

// Conn is a connection to the other end: unary calls go over its link while there is
// one, everything else as calls of their own. It is safe for concurrent use.
type Conn struct {
	calls grpc.ClientConnInterface
	link  *client // nil: the other end serves none
}

var _ grpc.ClientConnInterface = (*Conn)(nil)

// Open opens the link that the other end serves; ctx bounds the wait for its first message. The
// connection that it returns is good in any case, after an error without a link.
// That it does not serve one is no error. Close ends the link.
func Open(ctx context.Context, calls grpc.ClientConnInterface) (*Conn, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unbound := context.AfterFunc(ctx, cancel)
	stream, err := pluginv1.NewLinkClient(calls).Carry(life)
	if err == nil {
		_, err = stream.Recv()
	}
	if !unbound() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		if status.Code(err) == codes.Unimplemented {
			err = nil
		}
		return &Conn{calls: calls}, err
	}
	return &Conn{
		calls: calls,
		link:  newClient(stream, cancel),
	}, nil
}

// Linked reports whether there was a link when the connection was opened.
func (c *Conn) Linked() bool { return c.link != nil }

// Close ends the link and waits until nothing of it runs. The calls under way fail
// as if the plugin had gone; later ones are made without the link.
func (c *Conn) Close() {
	if c.link != nil {
		c.link.close()
	}
}

// Invoke makes a unary call. With the codec of package frames its messages may be
// *frames.Message: those are carried as they are.
func (c *Conn) Invoke(
	ctx context.Context,
	method string,
	args, reply any,
	opts ...grpc.CallOption,
) error {
	if c.link == nil || !areOptionsPlain(opts) {
		return c.calls.Invoke(ctx, method, args, reply, opts...)
	}
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	md, ok := carriedMetadata(ctx)
	if !ok || requestSize(args) > maxRequest {
		return c.calls.Invoke(ctx, method, args, reply, opts...)
	}
	k, err := c.link.beginCall(ctx, method, args, md)
	if err != nil {
		return err
	}
	if k == nil { // the link is full or has ended
		return c.calls.Invoke(ctx, method, args, reply, opts...)
	}
	body, err := c.link.awaitAnswer(ctx, k)
	if err != nil {
		return err
	}
	switch answer := reply.(type) {
	case *frames.Message:
		answer.Body = body
	case proto.Message:
		if err := proto.Unmarshal(body, answer); err != nil {
			return status.Error(
				codes.Internal,
				fmt.Sprintf("grpc: failed to unmarshal the received message: %v", err),
			)
		}
	default:
		return status.Errorf(
			codes.Internal,
			"grpc: failed to unmarshal the received message: %T is no message",
			reply,
		)
	}
	return nil
}

// requestSize is that of a request; what is no message is larger than any.
func requestSize(args any) int {
	switch m := args.(type) {
	case *frames.Message:
		return len(m.Body)
	case proto.Message:
		return proto.Size(m)
	}
	return math.MaxInt
}

// NewStream opens a stream of its own.
func (c *Conn) NewStream(
	ctx context.Context,
	desc *grpc.StreamDesc,
	method string,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	return c.calls.NewStream(ctx, desc, method, opts...)
}

// areOptionsPlain reports whether the options are such as a link fulfils.
func areOptionsPlain(opts []grpc.CallOption) bool {
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.StaticMethodCallOption:
		case grpc.ForceCodecV2CallOption:
			if o.CodecV2 != frames.Codec() { // which leaves to protobuf what is no frame, as a link does
				return false
			}
		default:
			return false
		}
	}
	return true
}

// carriedMetadata is the metadata of a call, if a link can carry it.
func carriedMetadata(ctx context.Context) (out []*pluginv1.LinkCall_MetadataEntry, ok bool) {
	md, _ := metadata.FromOutgoingContext(ctx)
	for k, v := range md {
		if len(v) != 1 || strings.HasSuffix(k, "-bin") {
			return nil, false
		}
		out = append(out, &pluginv1.LinkCall_MetadataEntry{
			Key:   k,
			Value: v[0],
		})
	}
	return out, true
}
