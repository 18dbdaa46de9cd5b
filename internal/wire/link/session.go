package link

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// maxCalls bounds the calls of a Server that are served at once, over all its links; the host's own limit is below it.
// maxIdle is how many goroutines wait for the next call: growing the stack of a new
// one costs more than the call.
const (
	maxCalls = 8192
	maxIdle  = 64
)

// session is one link of a Server.
type session struct {
	server *Server
	base   context.Context
	stream context.Context // of the stream, for Admit only
	out    *outbox
	jobs   chan job
	idle   atomic.Int64

	mu     sync.Mutex
	active map[uint64]context.CancelFunc
}

// job is a call that is to be served.
type job struct {
	ctx     context.Context
	cancel  context.CancelFunc
	id      uint64
	method  string
	request []byte
}

func newSession(s *Server, base, stream context.Context) *session {
	return &session{
		server: s,
		base:   base,
		stream: stream,
		out:    newOutbox(s.room),
		jobs:   make(chan job),
		active: map[uint64]context.CancelFunc{},
	}
}

// readCalls starts calls and cancels them, until the stream ends.
func (k *session) readCalls(stream grpc.BidiStreamingServer[pluginv1.CarryRequest, pluginv1.CarryResponse]) error {
	m := &pluginv1.CarryRequest{}
	for {
		m.Reset()
		if err := stream.RecvMsg(m); err != nil {
			return err
		}
		for _, c := range m.Calls {
			if c.Method == "" {
				k.cancelCall(c.Id)
			} else if err := k.startCall(c); err != nil {
				return err
			}
		}
		k.out.waitSmall(k.base)
	}
}

func (k *session) cancelCall(id uint64) {
	k.mu.Lock()
	cancel := k.active[id]
	k.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	k.out.dropAnswer(id)
}

func (k *session) startCall(c *pluginv1.LinkCall) error {
	j := job{id: c.Id, method: c.Method, request: c.Request}
	if c.Timeout > 0 {
		j.ctx, j.cancel = context.WithTimeout(k.base, time.Duration(c.Timeout))
	} else {
		j.ctx, j.cancel = context.WithCancel(k.base)
	}
	if len(c.Metadata) > 0 {
		md := make(metadata.MD, len(c.Metadata))
		for _, e := range c.Metadata {
			md.Append(e.Key, e.Value)
		}
		j.ctx = metadata.NewIncomingContext(j.ctx, md)
	}
	k.mu.Lock()
	_, twice := k.active[c.Id]
	full := k.server.room.calls.Load() >= maxCalls
	if !twice && !full {
		k.server.room.calls.Add(1)
		k.active[c.Id] = j.cancel
	}
	k.mu.Unlock()
	switch {
	case twice:
		j.cancel()
		return status.Errorf(codes.InvalidArgument, "the id %d is of a call under way", c.Id)
	case full:
		j.cancel()
		k.out.addAnswer(newFailureAnswer(
			c.Id,
			status.Newf(
				codes.ResourceExhausted,
				"%d calls over links are being served already",
				maxCalls,
			),
		))
		return nil
	}
	select {
	case k.jobs <- j:
	default:
		go k.workJobs(j)
	}
	return nil
}

// workJobs serves a call, and more when there are.
func (k *session) workJobs(j job) {
	for {
		k.serveJob(j)
		if k.idle.Add(1) > maxIdle {
			k.idle.Add(-1)
			return
		}
		select {
		case j = <-k.jobs:
			k.idle.Add(-1)
		case <-k.base.Done():
			return
		}
	}
}

func (k *session) serveJob(j job) {
	response, err := k.callHandler(j)
	n := answerSize(response)
	switch {
	case err != nil:
	case n > maxAnswer:
		err = tooLarge(n)
	case n > chunk:
		err = k.server.room.acquireLarge(j.ctx, n)
	}
	a := answers.Get().(*pluginv1.LinkAnswer)
	a.Id, a.Size, a.Status, a.Response = j.id, 0, nil, a.Response[:0]
	if err == nil {
		if a.Response, err = encodeResponse(a.Response, response); err != nil && n > chunk {
			k.server.room.large.Release(int64(n))
		}
	}
	if err != nil {
		st, ok := status.FromError(err)
		if !ok {
			st = status.FromContextError(err)
		}
		a = newFailureAnswer(j.id, st)
	}
	k.out.addAnswer(a)
	k.server.room.calls.Add(-1)
	k.mu.Lock()
	delete(k.active, j.id)
	k.mu.Unlock()
	j.cancel()
}

// answerSize is how many bytes a response has.
func answerSize(response any) int {
	switch r := response.(type) {
	case []byte:
		return len(r)
	case proto.Message:
		return proto.Size(r)
	}
	return 0
}

// encodeResponse appends an answer, whose size was found, to a buffer, or takes it as it is.
func encodeResponse(to []byte, response any) ([]byte, error) {
	if whole, ok := response.([]byte); ok {
		return whole, nil
	}
	m, ok := response.(proto.Message)
	if !ok {
		return to, nil
	}
	out, err := (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(to, m)
	if err != nil {
		return to, status.Errorf(codes.Internal, "grpc: error while marshaling: %v", err)
	}
	return out, nil
}

func tooLarge(n int) error {
	return status.Errorf(
		codes.ResourceExhausted,
		"grpc: trying to send message larger than max (%d vs. %d)",
		n,
		maxAnswer,
	)
}

// callHandler runs the handler as gRPC would. The answer is a proto.Message, or bytes.
func (k *session) callHandler(j job) (any, error) {
	ctx := j.ctx
	if k.server.Admit != nil {
		var err error
		if ctx, err = k.server.Admit(ctx, k.stream); err != nil {
			return nil, err
		}
	}
	m, known := k.server.methods[j.method]
	if !known && k.server.Unknown != nil {
		return k.server.Unknown(ctx, j.method, j.request)
	}
	if !known {
		return nil, k.server.missingMethodError(j.method)
	}
	decode := func(v any) error {
		if err := proto.Unmarshal(j.request, v.(proto.Message)); err != nil {
			return status.Errorf(codes.Internal, "grpc: error unmarshalling request: %v", err)
		}
		return nil
	}
	return m.handler(m.impl, ctx, decode, k.server.intercept)
}

func newFailureAnswer(id uint64, st *status.Status) *pluginv1.LinkAnswer {
	b, err := proto.Marshal(st.Proto())
	if err != nil {
		b, _ = proto.Marshal(status.New(codes.Internal, "an error that cannot be encoded").Proto())
	}
	return &pluginv1.LinkAnswer{Id: id, Status: b}
}
