package hostsvc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/wire/frames"
	"ctl.internal/sdk/fault"
)

// account is what one plugin takes of the host's memory and of its store, over all its processes, streams and calls.
type account struct {
	unread    *semaphore.Weighted // bytes of streams that it was sent and has not read
	unreadMax int64
	held      atomic.Int64        // bytes of answers that wait for their place among the unread
	snapshots *semaphore.Weighted // readers that hold a state of the store
	requests  atomic.Int64        // bytes of the calls that it makes
	commits   *rate.Limiter
	written   *rate.Limiter // bytes into the store
	published *rate.Limiter // bytes of events
}

func newAccount(q Quotas) *account {
	return &account{
		unread:    semaphore.NewWeighted(q.UnreadBytes),
		unreadMax: q.UnreadBytes,
		snapshots: semaphore.NewWeighted(q.Snapshots),
		commits:   perSecond(q.Commits, 2),
		written:   perSecond(q.WriteBytes, 4),
		published: perSecond(q.PublishBytes, 4),
	}
}

// perSecond is n a second in the long run, and times as much at once; 0 = without a bound.
func perSecond(n, times int) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(n), n*times)
}

// maxWait is how long a call waits for the rate of a plugin: as long as a write may take that waits for the store.
const maxWait = 4500 * time.Millisecond

// waitLimiter waits until a limiter has n, as many as it has at once if n are more.
func waitLimiter(ctx context.Context, l *rate.Limiter, n int) bool {
	if l.Limit() == rate.Inf {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	return l.WaitN(ctx, min(n, l.Burst())) == nil
}

// paceWrites makes a plugin write no faster than its quota.
func (s *Server) paceWrites(ctx context.Context, bytes int) error {
	if waitLimiter(ctx, s.account.commits, 1) && waitLimiter(ctx, s.account.written, bytes) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.noteQuotaExceeded("writes")
	q := s.services.Quotas
	return fault.New(fault.Unavailable, "plugin %s writes faster than its quota, %d commits and %d MiB a second, so nothing was written; try again later",
		s.plugin, q.Commits, q.WriteBytes>>20)
}

// enterRequest counts the bytes of a call in; the function counts them out. One call alone may have any size.
func (s *Server) enterRequest(req any) (leave func(), err error) {
	m, ok := req.(proto.Message)
	if !ok {
		return func() {}, nil
	}
	n, most := int64(proto.Size(m)), s.services.Quotas.RequestBytes
	now := s.account.requests.Add(n)
	if most > 0 && now > most && now > n {
		s.account.requests.Add(-n)
		s.noteQuotaExceeded("requests")
		return nil, fault.New(
			fault.Unavailable,
			"the calls of plugin %s that are under way have %d MiB, which is its quota; try again later",
			s.plugin,
			most>>20,
		)
	}
	return func() { s.account.requests.Add(-n) }, nil
}

// acquireSnapshot waits for the right to hold a state of the store, which keeps in memory what is replaced meanwhile. The
// context ends with that right.
func (s *Server) acquireSnapshot(ctx context.Context) (_ context.Context, leave func(), err error) {
	q := s.services.Quotas
	if q.Snapshots <= 0 {
		return ctx, func() {}, nil
	}
	if err := s.acquireSemaphore(
		ctx,
		s.account.snapshots,
		1,
		"%d snapshots of the store are being read by plugin %s, which is its quota",
		q.Snapshots,
		s.plugin,
	); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 6*q.UnreadTime, s.unreadFault())
	return ctx, func() { cancel(); s.account.snapshots.Release(1) }, nil
}

// acquireSemaphore acquires n of a semaphore, and gives up after the time that a plugin has for reading.
func (s *Server) acquireSemaphore(
	ctx context.Context,
	of *semaphore.Weighted,
	n int64,
	format string,
	args ...any,
) error {
	within, cancel := context.WithTimeout(ctx, s.services.Quotas.UnreadTime)
	defer cancel()
	if of.Acquire(within, n) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.noteQuotaExceeded("unread")
	return fault.New(fault.Unavailable, format+"; read the streams that are open, and try again", args...)
}

func (s *Server) unreadFault() error {
	return fault.New(
		fault.Unavailable,
		"plugin %s has not read the stream for %s, so it was reset; open it again",
		s.plugin,
		s.services.Quotas.UnreadTime,
	)
}

// paced is a stream to the plugin, which reads it in time or loses it. At most one message of it waits to be read.
type paced struct {
	grpc.ServerStream
	s    *Server
	conn *connection
}

// maxHeld bounds the answers that wait until the plugin has read others; one alone may have any size.
const maxHeld = 64 << 20

// answer counts the answer of a call of its own, as opposed to one on a link, among what the plugin has not read.
func (s *Server) answer(ctx context.Context, res any) (any, error) {
	conn, _ := ctx.Value(connKey{}).(*connection)
	size := sizeOf(res)
	// Of small ones gRPC has one for each of its streams.
	if s.services.Quotas.UnreadBytes <= 0 || conn == nil || size <= minMessage {
		return res, nil
	}
	n := min(int64(size), s.account.unreadMax)
	defer s.account.held.Add(-int64(size))
	now := s.account.held.Add(int64(size))
	if now > maxHeld && now > int64(size) {
		s.noteQuotaExceeded("unread")
		return nil, fault.ToStatus(fault.New(fault.Unavailable,
			"plugin %s does not read the answers of its calls, and %d MiB of them wait; read them, and call again",
			s.plugin, maxHeld>>20))
	}
	err := s.acquireSemaphore(ctx, s.account.unread, n, "plugin %s has %d MiB of its answers and streams unread, which is its quota",
		s.plugin, s.account.unreadMax>>20)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	return conn.addMessage(res, size, func() { s.account.unread.Release(n) }), nil
}

// pacedStream bounds what of a stream waits to be read.
func (s *Server) pacedStream(ss grpc.ServerStream) grpc.ServerStream {
	conn, _ := ss.Context().Value(connKey{}).(*connection)
	if s.services.Quotas.UnreadBytes <= 0 || conn == nil {
		return ss
	}
	return paced{ss, s, conn}
}

// SendMsg implements grpc.ServerStream. It returns when the message is on its way to the plugin's memory.
func (p paced) SendMsg(m any) error {
	size := sizeOf(m)
	n := min(int64(size)+minMessage, p.s.account.unreadMax)
	ctx := p.Context()
	err := p.s.acquireSemaphore(
		ctx,
		p.s.account.unread,
		n,
		"plugin %s has %d MiB of its streams unread, which is its quota",
		p.s.plugin,
		p.s.account.unreadMax>>20,
	)
	if err != nil {
		return err
	}
	msg := p.conn.addMessage(m, size, func() { p.s.account.unread.Release(n) })
	if err := p.ServerStream.SendMsg(msg); err != nil {
		msg.noteWritten()
		return err
	}
	late := time.NewTimer(p.s.services.Quotas.UnreadTime)
	defer late.Stop()
	select {
	case <-msg.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		p.s.noteQuotaExceeded("unread")
		return p.s.unreadFault()
	}
}

// connection is one of a plugin. It knows the messages on it that are not written: gRPC frees those of a stream that
// ends, but not those of a connection that ends.
type connection struct {
	mu   sync.Mutex
	over bool
	out  map[*message]struct{}
}

// message is one of a stream, until gRPC has written it.
type message struct {
	body any
	size int
	conn *connection
	free func()
	once sync.Once
	done chan struct{}
}

func (c *connection) addMessage(body any, size int, free func()) *message {
	m := &message{
		body: body,
		size: size,
		conn: c,
		free: free,
		done: make(chan struct{}),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		m.once.Do(m.end)
		return m
	}
	c.out[m] = struct{}{}
	return m
}

func (m *message) end() {
	m.free()
	close(m.done)
}

func (m *message) noteWritten() {
	m.conn.mu.Lock()
	delete(m.conn.out, m)
	m.conn.mu.Unlock()
	m.once.Do(m.end)
}

func (c *connection) close() {
	c.mu.Lock()
	c.over = true
	left := c.out
	c.out = nil
	c.mu.Unlock()
	for m := range left {
		m.once.Do(m.end)
	}
}

type connKey struct{}

// connections gives each connection of a plugin its place for messages that are not written. It implements
// stats.Handler.
type connectionStats struct{}

func (connectionStats) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connKey{}, &connection{out: map[*message]struct{}{}})
}

func (connectionStats) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ended := s.(*stats.ConnEnd); ended {
		ctx.Value(connKey{}).(*connection).close()
	}
}

func (connectionStats) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return ctx
}
func (connectionStats) HandleRPC(context.Context, stats.RPCStats) {}

// minMessage is the least capacity of a buffer that gRPC says it has written.
const minMessage = 2 << 10

// codec encodes a message so that its end is noticed, and all else as package frames does.
type codec struct{ encoding.CodecV2 }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*message)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	b := make([]byte, 0, max(m.size, minMessage))
	switch body := m.body.(type) {
	case proto.Message:
		var err error
		if b, err = (proto.MarshalOptions{}).MarshalAppend(b, body); err != nil {
			m.noteWritten()
			return nil, err
		}
	case *frames.Message:
		b = append(b, body.Body...)
	default:
		m.noteWritten()
		return nil, errors.New("a message of an unknown kind")
	}
	m.body = nil
	return mem.BufferSlice{mem.NewBuffer(&b, written{m})}, nil
}

// written is notified of the end of the one buffer of a message. It implements mem.BufferPool.
type written struct{ m *message }

func (written) Get(n int) *[]byte { b := make([]byte, n); return &b }
func (w written) Put(*[]byte)     { w.m.noteWritten() }

func sizeOf(m any) int {
	switch m := m.(type) {
	case proto.Message:
		return proto.Size(m)
	case *frames.Message:
		return len(m.Body)
	}
	return 0
}
