package plugin

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/relay"
	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/onward"
	"ctl.internal/sdk/caller"
)

// lostGrace is how long an error that looks like a dead process waits for proof of
// the death: the connection breaks a little before the end is seen. With a connection
// that is down the proof may take lostProof, on a machine that is busy.
const (
	lostGrace = 250 * time.Millisecond
	lostProof = 10 * time.Second
)

type stats struct {
	calls, failed, repeated, refused, denied atomic.Uint64
}

type safeKey struct{}

// Safe marks the calls made with a context as changing nothing: when the plugin
// dies under one, it waits for the restart and is repeated once.
func Safe(ctx context.Context) context.Context {
	return context.WithValue(ctx, safeKey{}, true)
}

// IsSafe reports whether a context was made by Safe.
func IsSafe(ctx context.Context) bool {
	return ctx.Value(safeKey{}) != nil
}

// callInstance runs f on the current process.
func (s *supervisor) callInstance(ctx context.Context, f func(*instance) error) error {
	safe := IsSafe(ctx)
	place, err := s.enterCall(ctx, true)
	if err != nil {
		return err
	}
	defer s.calls.releasePlace(place)
	id := s.callers.enterCaller(ctx)
	defer s.callers.leaveCaller(id)
	s.stats.calls.Add(1)
	for attempt := 0; ; attempt++ {
		inst, err := s.acquireInstance(ctx, safe)
		if err != nil {
			s.stats.refused.Add(1)
			return err
		}
		err = f(inst)
		inst.releaseCall()
		if err == nil {
			return nil
		}
		if !s.isProcessLost(ctx, inst, err) {
			s.stats.failed.Add(1)
			return err
		}
		if !safe || attempt > 0 {
			s.stats.failed.Add(1)
			return s.goneError()
		}
		s.stats.repeated.Add(1)
	}
}

// enterCall takes a place for a call to the plugin.
func (s *supervisor) enterCall(ctx context.Context, unary bool) (*place, error) {
	who, wait := "", queueWait
	if c, ok := caller.From(ctx); ok {
		who = c.User + "@" + c.Domain
	} else if md, ok := metadata.FromOutgoingContext(ctx); ok { // another plugin
		who, wait = strings.Join(md.Get(relay.MetaCaller), ""), s.m.limits.CallTimeout
	}
	if p := s.calls.takePlace(ctx, who, unary, wait); p != nil {
		return p, nil
	}
	s.stats.calls.Add(1)
	s.stats.refused.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, Unavailable(
		time.Second,
		"plugin %s is busy with %d calls; try again later",
		s.name,
		s.calls.limit,
	)
}

// acquireInstance returns the process that serves, counted in. A safe call waits for one.
func (s *supervisor) acquireInstance(ctx context.Context, safe bool) (*instance, error) {
	s.followFiles(ctx)
	for {
		inst := s.cur.Load()
		if inst != nil && !inst.proc.Ended() && inst.acquireCall() {
			return inst, nil
		}
		if inst != nil {
			s.cur.CompareAndSwap(inst, nil)
		}
		if err := s.awaitInstance(ctx, safe); err != nil {
			return nil, err
		}
	}
}

// awaitInstance returns when a process serves, or an error that says why there will be none soon.
func (s *supervisor) awaitInstance(ctx context.Context, safe bool) error {
	limited, cancel := context.WithTimeout(ctx, s.m.limits.RestartWait)
	defer cancel()
	var seen machine
	down := false
	err := s.waitUntil(limited, func(m machine) bool {
		if seen = m; s.cur.Load() != nil {
			return true
		}
		deadline, ok := ctx.Deadline()
		down = !safe || m.state == Stopped || m.state == Stopping && !m.again || m.state == Failed || m.state == Standby ||
			ok && m.state == Backoff && deadline.Before(m.next)
		return down
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case down || err != nil:
		return s.downError(seen)
	}
	return nil
}

// isProcessLost reports whether err says that the process is gone rather than that the
// plugin has refused.
func (s *supervisor) isProcessLost(ctx context.Context, inst *instance, err error) bool {
	st, ok := status.FromError(err)
	if !ok || len(st.Details()) > 0 || ctx.Err() != nil {
		return false
	}
	c := st.Code()
	if c != codes.Unavailable && c != codes.Canceled {
		return false
	}
	if over, gone := s.waitProcessEnd(ctx, inst, lostGrace); over ||
		inst.proc.Conn().GetState() == connectivity.Ready {
		return gone
	}
	_, gone := s.waitProcessEnd(ctx, inst, lostProof)
	return gone
}

// waitProcessEnd waits for the end of a process, or of its time. Gone reports whether its calls
// are lost.
func (s *supervisor) waitProcessEnd(
	ctx context.Context,
	inst *instance,
	limit time.Duration,
) (over, gone bool) {
	select {
	case <-inst.proc.Gone():
		s.cur.CompareAndSwap(inst, nil)
		return true, true
	case <-inst.leave.Done(): // cut off by the end of a drain
		return true, true
	case <-ctx.Done():
		return true, false
	case <-time.After(limit):
		return false, false
	}
}

// goneError is for a call that was under way when the process ended.
func (s *supervisor) goneError() error {
	s.mu.Lock()
	m := s.machine
	s.mu.Unlock()
	e := s.downError(m)
	if m.state.Serving() {
		e = Unavailable(0, "plugin %s stopped during the call and is running again", s.name)
	}
	e.fault.Cause = errors.New("the process ended")
	return e
}

// downError reports what is with a plugin that does not serve and when to ask again.
func (s *supervisor) downError(m machine) *UnavailableError {
	switch m.state {
	case Starting:
		return Unavailable(time.Second, "plugin %s is starting", s.name)
	case Backoff:
		return Unavailable(
			time.Until(m.next)+time.Second,
			"%s; restart %d follows",
			m.reason,
			m.failures,
		)
	case Failed:
		return Unavailable(
			time.Minute,
			"plugin %s has failed and waits for plugin:restart: %s",
			s.name,
			m.reason,
		)
	case Standby:
		return Unavailable(
			time.Second,
			"plugin %s runs on another node, which cannot be reached from here: cluster.listen is off",
			s.name,
		)
	case Stopped, Stopping:
		return Unavailable(time.Minute, "plugin %s is stopped", s.name)
	}
	return Unavailable(time.Second, "plugin %s is being restarted", s.name)
}

// conn is a connection to whatever process serves a plugin now.
type conn struct {
	s     *supervisor
	fresh bool // its calls see everything acknowledged before them
	here  bool // its calls do not go to another node
}

var _ grpc.ClientConnInterface = conn{}

// Invoke makes a unary call. Without a deadline it gets the default one.
func (c conn) Invoke(
	ctx context.Context,
	method string,
	args, reply any,
	opts ...grpc.CallOption,
) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.s.m.limits.CallTimeout)
		defer cancel()
	}
	if c.fresh {
		var err error
		if ctx, err = c.s.m.withMinRevision(ctx); err != nil {
			return err
		}
	}
	if other, ok := c.forwardConn(); ok {
		return other.Invoke(ctx, method, args, reply, opts...)
	}
	err := c.s.callInstance(ctx, func(i *instance) error {
		return i.conn.Invoke(ctx, method, args, reply, opts...)
	})
	if err != nil && !c.here {
		if other, ok := c.s.m.OnNode(c.s.name, err); ok {
			return other.Invoke(ctx, method, args, reply, opts...)
		}
	}
	return err
}

// NewStream opens a stream on the process that serves now. It is not repeated: who
// reads a stream knows what has arrived. A stream of a method named Watch ends when
// its process is replaced, so that the reader opens another on the successor.
func (c conn) NewStream(
	ctx context.Context,
	desc *grpc.StreamDesc,
	method string,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	s := c.s
	if c.fresh {
		var err error
		if ctx, err = s.m.withMinRevision(ctx); err != nil {
			return nil, err
		}
	}
	if other, ok := c.forwardConn(); ok {
		return other.NewStream(ctx, desc, method, opts...)
	}
	leave, err := s.enterStream(ctx, method)
	if err != nil {
		return nil, err
	}
	s.stats.calls.Add(1)
	inst, err := s.acquireInstance(ctx, IsSafe(ctx))
	if err != nil {
		leave()
		s.stats.refused.Add(1)
		return nil, err
	}
	id := s.callers.enterCaller(ctx)
	if relay.Watching(method) {
		inst.releaseCall() // a watch is not expected to end by itself
	}
	sctx, cancel := context.WithCancel(ctx)
	detach := func() bool { return true }
	if relay.Watching(method) {
		detach = context.AfterFunc(inst.leave, cancel)
	}
	stream, err := inst.conn.NewStream(sctx, desc, method, opts...)
	end := func() {
		cancel()
		detach()
		leave()
		s.callers.leaveCaller(id)
		if !relay.Watching(method) {
			inst.releaseCall()
		}
	}
	if err != nil {
		end()
		if s.isProcessLost(ctx, inst, err) {
			return nil, s.goneError()
		}
		return nil, err
	}
	// gRPC ends the stream's context when the call is over, however it ends.
	context.AfterFunc(stream.Context(), end)
	return &managedStream{
		ClientStream: stream,
		s:            s,
		inst:         inst,
		ctx:          ctx,
	}, nil
}

// enterStream takes a place for a stream: among the calls, or of a watch among the watches. The function gives it back.
func (s *supervisor) enterStream(ctx context.Context, method string) (leave func(), err error) {
	if !relay.Watching(method) {
		p, err := s.enterCall(ctx, false)
		return func() { s.calls.releasePlace(p) }, err
	}
	if s.watches.Add(1) > int64(s.m.limits.Watches) {
		s.watches.Add(-1)
		s.stats.refused.Add(1)
		return nil, Unavailable(
			time.Second,
			"plugin %s serves %d watches already; try again later",
			s.name,
			s.m.limits.Watches,
		)
	}
	return func() { s.watches.Add(-1) }, nil
}

// managedStream distinguishes the death of the process from an error of the plugin.
type managedStream struct {
	grpc.ClientStream
	s    *supervisor
	inst *instance
	ctx  context.Context
}

// RecvMsg implements grpc.ClientStream.
func (m *managedStream) RecvMsg(v any) error {
	err := m.ClientStream.RecvMsg(v)
	if err != nil && m.s.isProcessLost(m.ctx, m.inst, err) {
		return m.s.goneError()
	}
	return err
}

// withMinRevision lets a call see everything that was acknowledged, on any node, before it: the
// plugin answers when its data has reached that revision. A call that asks for local
// state (datastore.AskLocal) sees what this node has.
func (m *Manager) withMinRevision(ctx context.Context) (context.Context, error) {
	store := m.options.Store
	if store == nil {
		return ctx, nil
	}
	var at datastore.Revision
	var err error
	if !datastore.AsksLocal(ctx) {
		at, err = store.Barrier(ctx)
	} else {
		at = store.Revision()
	}
	if err != nil || at == 0 {
		return ctx, err
	}
	pairs := []string{wire.MetaMinRevision, strconv.FormatUint(uint64(at), 10)}
	if left, ok := datastore.Budget(ctx); ok {
		pairs = append(pairs, onward.StoreLeft, strconv.FormatInt(left.Milliseconds(), 10))
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...), nil
}

// Fresh is Conn for calls that see everything acknowledged before them.
func (m *Manager) Fresh(name string) (grpc.ClientConnInterface, error) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return nil, err
	}
	return conn{s: s, fresh: true}, nil
}
