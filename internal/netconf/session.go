// Package netconf is a NETCONF client (RFC 6241) over SSH (RFC 6242) that bears
// broken servers: every call has a deadline, every message a size cap, replies go to
// their caller by message-id, and success is only what the server said in full.
//
// Messages and the session are those of Juniper/go-netconf; the transport below
// them is this package's own, because the library's loses and mixes up data under
// fault. XML is package xmltree. Simulated servers are in lab/simrouter.
package netconf

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	lib "github.com/Juniper/go-netconf/netconf"

	"ctl.internal/internal/netconf/xmltree"
)

// Session is an open session. Its methods may be called at the same time.
type Session struct {
	lib *lib.Session
	t   *transport
	key string

	send sync.Mutex // one message is written at a time

	mu        sync.Mutex
	waiting   map[string]chan Answer
	abandoned map[string]bool // asked by greet, no longer awaited
	err       error           // why the session ended
	lost      int

	events chan Notification
	done   chan struct{} // the reader has ended
}

// Open says hello on an open stream and makes sure that the server answers. The
// session owns conn from here on, also on error. ctx bounds the opening only. A message
// has at most maxMessage bytes, 0: framing.DefaultMax.
func Open(ctx context.Context, conn io.ReadWriteCloser, maxMessage int) (*Session, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	t := newTransport(conn, maxMessage)
	s := &Session{
		t:         t,
		lib:       lib.NewSession(t),
		waiting:   map[string]chan Answer{},
		abandoned: map[string]bool{},
		events:    make(chan Notification, maxQueued),
		done:      make(chan struct{}),
	}
	stop()
	if t.helloErr == nil {
		t.helloErr = ctx.Err()
	}
	if t.helloErr != nil {
		conn.Close()
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("no hello from the router in time: %w", err)
		}
		return nil, fmt.Errorf("the router's hello: %w", t.helloErr)
	}
	go s.readMessages()
	if err := s.probeServer(ctx); err != nil {
		s.fail(err)
		<-s.done
		return nil, err
	}
	return s, nil
}

// ID is the session-id that the server gave.
func (s *Session) ID() int { return s.lib.SessionID }

// Capabilities are those the server announced.
func (s *Session) Capabilities() Capabilities {
	return s.lib.ServerCapabilities
}

// HostKey is the key that the server showed, a line of authorized_keys without a
// comment; empty when the session was not opened by Dial.
func (s *Session) HostKey() string { return s.key }

// Notifications are what the server sends after Subscribe. The channel is closed
// when the session ends.
func (s *Session) Notifications() <-chan Notification {
	return s.events
}

// Done is closed when the session has ended; Err then says why.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is why the session ended, nil while it is open.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ErrClosed is the reason of a session that Close ended.
var ErrClosed = errors.New("the session is closed")

// Do sends an operation and waits for its reply. A Refusal or ErrUnclear leaves the
// session open. When ctx ends first the session is ended too: what became of the
// operation is not known, and replies after it would come late as well (RFC 6241
// section 4.5 keeps them in order).
func (s *Session) Do(ctx context.Context, op Operation) (*Reply, error) {
	a := s.DoAll(ctx, op)
	return a[0].Reply, a[0].Err
}

// Answer is what one of several operations came to.
type Answer struct {
	Reply *Reply
	Err   error
}

// DoAll sends operations in one piece, without waiting for answers between them, and
// then waits for all (RFC 6241 section 4.5). The server does them in their order and
// does not stop at one that it refuses. For the rest it is like Do; the answers come
// in the order of the operations.
func (s *Session) DoAll(ctx context.Context, ops ...Operation) []Answer {
	out := make([]Answer, len(ops))
	replies := make([]chan Answer, len(ops))
	for i := range replies {
		replies[i] = make(chan Answer, 1)
	}
	var got atomic.Int32 // answers that came
	late := func() {
		s.fail(fmt.Errorf(
			"no answer to %s: %w",
			ops[min(int(got.Load()), len(ops)-1)].Name(),
			context.Cause(ctx),
		))
	}
	ids, err := s.sendOperations(ctx, ops, replies, late)
	if err != nil {
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	defer s.forgetRequests(ids)
	stop := context.AfterFunc(ctx, late)
	defer stop()
	for i, reply := range replies {
		out[i] = <-reply // the end of the session answers too
		got.Add(1)
	}
	return out
}

// sendOperations writes operations whose answers, or the end of the session, go to replies; late
// is called when ctx ends during that.
func (s *Session) sendOperations(
	ctx context.Context,
	ops []Operation,
	replies []chan Answer,
	late func(),
) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ids, msgs := make([]string, len(ops)), make([][]byte, len(ops))
	for i, op := range ops {
		rpc := lib.NewRPCMessage([]lib.RPCMethod{op})
		msg, err := xml.Marshal(rpc)
		if err != nil {
			return nil, err
		}
		ids[i], msgs[i] = rpc.MessageID, msg
	}
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return nil, s.err
	}
	for i, id := range ids {
		s.waiting[id] = replies[i]
	}
	s.mu.Unlock()

	stop := context.AfterFunc(ctx, late)
	defer stop()
	s.send.Lock()
	defer s.send.Unlock()
	if err := s.t.f.Write(msgs...); err != nil {
		s.forgetRequests(ids)
		s.fail(err)
		return nil, s.Err()
	}
	return ids, nil
}

func (s *Session) forgetRequests(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.waiting, id)
	}
}

// fail ends the session; the first reason stays. All who wait get it.
func (s *Session) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	err = s.err
	for id, c := range s.waiting {
		delete(s.waiting, id)
		c <- Answer{Err: err}
	}
	s.mu.Unlock()
	s.lib.Close()
}

// Close says close-session, waits for the answer as long as ctx allows, and ends the
// session. It returns when nothing of it runs any more.
func (s *Session) Close(ctx context.Context) error {
	var err error
	if s.Err() == nil {
		_, err = s.Do(ctx, CloseOp())
	}
	s.fail(ErrClosed)
	<-s.done
	return err
}

// readMessages is the session's only reader. It hands replies out by their message-id.
func (s *Session) readMessages() {
	defer close(s.done)
	defer close(s.events)
	for {
		data, err := s.t.Receive()
		if err == nil {
			err = s.handleMessage(data)
		}
		if err != nil {
			s.fail(err)
			return
		}
	}
}

func (s *Session) handleMessage(data []byte) error {
	root, err := xmltree.Parse(data)
	switch {
	case err != nil:
		return fmt.Errorf("a message of the router is %w", err)
	case root.Is(NS, "rpc-reply"):
		return s.deliverReply(root)
	case root.Is(NSNotification, "notification"):
		n, err := readNotification(root)
		if err == nil {
			s.queueNotification(n)
		}
		return err
	}
	return fmt.Errorf(
		"the router sent %.40q of %.80q, neither a reply nor a notification",
		root.Name,
		root.Space,
	)
}

func (s *Session) deliverReply(root *xmltree.Node) error {
	id := root.Attr("", "message-id")
	reply, err := readReply(root)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.waiting[id]
	switch {
	case c != nil:
		delete(s.waiting, id)
		c <- Answer{reply, err}
		return nil
	case s.abandoned[id]:
		delete(s.abandoned, id)
		return nil
	case id == "" && err != nil:
		return fmt.Errorf("a reply to no message: %w", err)
	}
	return errors.New("the router answered a message that was not sent")
}

// queueNotification never blocks: a slow reader must not hold up replies.
func (s *Session) queueNotification(n Notification) {
	n.Lost = s.lost
	select {
	case s.events <- n:
		s.lost = 0
	default:
		s.lost++
	}
}
