package link

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/frames"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// maxQueued bounds the bytes of requests that wait to be sent, and batchBytes those
// of one message.
const (
	maxQueued  = 16 << 20
	batchBytes = 64 << 10
	// maxPartial bounds the bytes of answers of which parts have come, as many as the other end may have queued and
	// waiting; one alone may have any size.
	maxPartial = 2 * wire.MaxMessage
)

// client is the calling end of a link.
type client struct {
	stream grpc.BidiStreamingClient[pluginv1.CarryRequest, pluginv1.CarryResponse]
	cancel context.CancelFunc
	wake   chan struct{} // something is queued
	over   chan struct{} // closed when the link has ended
	work   sync.WaitGroup

	mu      sync.Mutex
	err     error // why it ended
	next    uint64
	pending map[uint64]*call
	queue   []*pluginv1.LinkCall
	queued  int
	partial int // bytes of answers that come in parts
}

// call is one that waits for its answer. Who takes it out of pending, under the
// lock, decides its end: the reader, which then sends on done, or the caller.
type call struct {
	id    uint64
	parts []byte // of an answer that comes in several
	size  int    // of that answer, while it counts as partial
	body  []byte
	err   error
	done  chan struct{}
}

var (
	calls    = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}
	requests = sync.Pool{New: func() any { return &pluginv1.LinkCall{} }}
)

func newClient(
	stream grpc.BidiStreamingClient[pluginv1.CarryRequest, pluginv1.CarryResponse],
	cancel context.CancelFunc,
) *client {
	l := &client{
		stream:  stream,
		cancel:  cancel,
		wake:    make(chan struct{}, 1),
		over:    make(chan struct{}),
		pending: map[uint64]*call{},
	}
	l.work.Go(l.readAnswers)
	l.work.Go(l.writeQueue)
	return l
}

func (l *client) close() {
	l.cancel()
	l.work.Wait()
}

// beginCall queues a call; nil without an error when the link cannot take it.
func (l *client) beginCall(
	ctx context.Context,
	method string,
	request any,
	md []*pluginv1.LinkCall_MetadataEntry,
) (*call, error) {
	r := requests.Get().(*pluginv1.LinkCall)
	body := r.Request[:0]
	if m, ok := request.(*frames.Message); ok {
		body = append(body, m.Body...)
	} else {
		var err error
		if body, err = (proto.MarshalOptions{}).MarshalAppend(body, request.(proto.Message)); err != nil {
			return nil, status.Errorf(codes.Internal, "grpc: error while marshaling: %v", err)
		}
	}
	r.Method, r.Request, r.Metadata, r.Timeout = method, body, md, 0
	if d, ok := ctx.Deadline(); ok {
		r.Timeout = max(1, int64(time.Until(d)))
	}
	k := calls.Get().(*call)
	l.mu.Lock()
	if l.err != nil || l.queued > maxQueued {
		l.mu.Unlock()
		calls.Put(k)
		return nil, nil
	}
	l.next++
	k.id, r.Id = l.next, l.next
	l.pending[k.id] = k
	l.enqueueCall(r)
	l.mu.Unlock()
	l.signalWriter()
	return k, nil
}

// awaitAnswer returns the answer of a call.
func (l *client) awaitAnswer(ctx context.Context, k *call) ([]byte, error) {
	select {
	case <-k.done:
	case <-ctx.Done():
		l.mu.Lock()
		mine := l.remove(k)
		if mine {
			r := requests.Get().(*pluginv1.LinkCall)
			r.Id, r.Method, r.Request, r.Metadata, r.Timeout = k.id, "", r.Request[:0], nil, 0
			l.enqueueCall(r)
		}
		l.mu.Unlock()
		if mine {
			l.signalWriter() // the reader may be at a part of it still: not for another call
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		<-k.done // the answer was faster
	}
	body, err := k.body, k.err
	k.parts, k.body, k.err = nil, nil, nil
	calls.Put(k)
	return body, err
}

func (l *client) enqueueCall(r *pluginv1.LinkCall) {
	l.queue = append(l.queue, r)
	l.queued += len(r.Request)
}

func (l *client) signalWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// writeQueue sends what is queued, as much as there is in one message.
func (l *client) writeQueue() {
	m := &pluginv1.CarryRequest{}
	for {
		select {
		case <-l.wake:
		case <-l.over:
			return
		}
		for l.takeQueued(m) {
			if err := l.stream.Send(m); err != nil {
				return // the reader learns why
			}
			for i, r := range m.Calls {
				requests.Put(r)
				m.Calls[i] = nil
			}
		}
	}
}

// takeQueued moves what is queued into a message. Others who are about to call get the
// processor first: one message for all is cheaper than one for each.
func (l *client) takeQueued(m *pluginv1.CarryRequest) bool {
	l.mu.Lock()
	if len(l.queue) > 0 && len(l.pending) > 1 {
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	n, size := 0, 0
	for n < len(l.queue) && size < batchBytes {
		size += len(l.queue[n].Request)
		n++
	}
	m.Calls = append(m.Calls[:0], l.queue[:n]...)
	left := copy(l.queue, l.queue[n:])
	clear(l.queue[left:])
	l.queue = l.queue[:left]
	l.queued -= size
	return n > 0
}

// readAnswers delivers answers until the stream ends.
func (l *client) readAnswers() {
	m := &pluginv1.CarryResponse{}
	for {
		m.Reset()
		err := l.stream.RecvMsg(m)
		if err != nil {
			l.endCalls(err)
			return
		}
		for _, a := range m.Answers {
			l.deliverAnswer(a)
		}
	}
}

// deliverAnswer gives an answer, or the last part of one, to who waits for it.
func (l *client) deliverAnswer(a *pluginv1.LinkAnswer) {
	l.mu.Lock()
	k := l.pending[a.Id]
	l.mu.Unlock()
	if k == nil {
		return // cancelled meanwhile
	}
	switch {
	case len(a.Status) > 0:
		l.finishCall(k, nil, decodeStatus(a.Status))
	case a.Size == 0 && k.parts == nil:
		l.finishCall(k, a.Response, nil)
	default:
		l.addAnswerPart(k, a)
	}
}

// addAnswerPart adds to an answer that comes in several. Its parts are the reader's alone.
func (l *client) addAnswerPart(k *call, a *pluginv1.LinkAnswer) {
	switch {
	case a.Size > wire.MaxMessage:
		l.finishCall(
			k,
			nil,
			status.Errorf(
				codes.ResourceExhausted,
				"grpc: received message larger than max (%d vs. %d)",
				a.Size,
				wire.MaxMessage,
			),
		)
		return
	case a.Size > 0:
		if !l.countPartial(k, int(a.Size)) {
			l.finishCall(k, nil, status.Errorf(codes.ResourceExhausted,
				"the answers of which parts have come are larger than %d MiB", maxPartial>>20))
			return
		}
		k.parts = make([]byte, 0, a.Size)
	}
	if len(k.parts)+len(a.Response) > cap(k.parts) {
		l.finishCall(
			k,
			nil,
			status.Error(
				codes.Internal,
				"the parts of an answer are larger than it was said to be",
			),
		)
		return
	}
	if k.parts = append(k.parts, a.Response...); len(k.parts) == cap(k.parts) {
		l.finishCall(k, k.parts, nil)
	}
}

// countPartial counts the size of an answer that comes in parts, unless that would be more than maxPartial.
func (l *client) countPartial(k *call, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[k.id] != k {
		return true // cancelled meanwhile: finish drops it
	}
	others := l.partial - k.size
	if others > 0 && others+size > maxPartial {
		return false
	}
	l.partial = others + size
	k.size = size
	return true
}

// remove takes a call out of those that wait, under the lock; false when another was faster.
func (l *client) remove(k *call) bool {
	if l.pending[k.id] != k {
		return false
	}
	delete(l.pending, k.id)
	l.partial -= k.size
	k.size = 0
	return true
}

// finishCall ends a call unless its caller was faster.
func (l *client) finishCall(k *call, body []byte, err error) {
	l.mu.Lock()
	mine := l.remove(k)
	l.mu.Unlock()
	if mine {
		k.body, k.err = body, err
		k.done <- struct{}{}
	}
}

// endCalls fails every call under way.
func (l *client) endCalls(err error) {
	if errors.Is(err, io.EOF) {
		err = status.Error(codes.Unavailable, "the other end has closed the link")
	}
	if status.Code(err) != codes.Unavailable {
		err = status.Errorf(codes.Unavailable, "the link has ended: %v", err)
	}
	l.cancel()
	l.mu.Lock()
	l.err = err
	all := l.pending
	l.pending = map[uint64]*call{}
	l.partial = 0
	for _, k := range all {
		k.size = 0
	}
	l.queue, l.queued = nil, 0
	l.mu.Unlock()
	close(l.over)
	for _, k := range all {
		k.body, k.err = nil, err
		k.done <- struct{}{}
	}
}

func decodeStatus(b []byte) error {
	s := status.New(codes.OK, "").Proto()
	err := proto.Unmarshal(b, s)
	if err != nil || s.Code == int32(codes.OK) {
		return status.Error(codes.Internal, "link: a status that cannot be read")
	}
	return status.ErrorProto(s)
}
