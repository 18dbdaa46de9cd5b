// Package channel carries OpenFlow messages: a listener, and for each switch one
// goroutine that reads and one that writes. It bounds the number of connections,
// what is queued for each and how fast each is heard. It knows framing and nothing
// else: what messages mean is decided in package discovery.
package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/openflow/ofp13"
)

// Options are the settings of a Server.
type Options struct {
	Listen      string      // address and port
	TLS         *tls.Config // nil: TCP alone
	Connections int         // at the same time; more are refused
	Outbox      int         // bytes that may wait for one switch
	Messages    int         // a second from one switch; more wait
	PacketIns   int         // a second from one switch; more are dropped
	Log         *slog.Logger
}

// Event is what happened on a connection: it opened, brought a message, or ended.
type Event struct {
	Conn    uint64
	Kind    Kind
	Remote  string // Opened
	Header  ofp13.Header
	Message ofp13.Message // Received
	Reason  string        // Closed
}

// Kind is the kind of an Event.
type Kind int

// The kinds. Closed is the last event of a connection and follows Opened.
const (
	Opened Kind = iota
	Received
	Closed
)

// waiting is how many events may wait to be taken; then the readers wait. A message
// has at most 64 KB, so this bounds memory as well.
const waiting = 256

// Server is the listener with its connections.
type Server struct {
	o      Options
	lis    net.Listener
	events chan Event
	ctx    context.Context // of all connections
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu    sync.Mutex
	conns map[uint64]*conn
	last  uint64
	stats Stats
}

// Stats count what the edge itself did.
type Stats struct {
	Open           int    // connections now
	Full           uint64 // refused: too many
	DroppedFrames  uint64 // not sent: the switch did not read
	DroppedPackets uint64 // not taken: too many packets at once
}

// Listen opens the port and serves it until Close.
func Listen(o Options) (*Server, error) {
	// During a reload the process before this one still listens, and ends when this one is
	// ready. Programs of other users, and those that do not share the port, are in the way.
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		e := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		return errors.Join(err, e)
	}}
	lis, err := lc.Listen(context.Background(), "tcp", o.Listen)
	if err != nil {
		return nil, err
	}
	s := &Server{
		o:      o,
		lis:    lis,
		events: make(chan Event, waiting),
		conns:  map[uint64]*conn{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.group.Go(s.acceptConns)
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.lis.Addr() }

// Events is where events come out; they must be taken.
func (s *Server) Events() <-chan Event { return s.events }

// Stats returns the present values.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Open = len(s.conns)
	return st
}

// Close ends the listener and all connections and waits for their goroutines.
func (s *Server) Close() {
	s.cancel()
	_ = s.lis.Close()
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.net.Close()
	}
	s.mu.Unlock()
	s.group.Wait()
}

// acceptPause is how long the listener rests when the system has no descriptors.
const acceptPause = 100 * time.Millisecond

func (s *Server) acceptConns() {
	for {
		n, err := s.lis.Accept()
		switch {
		case err == nil:
			s.addConn(n)
		case errors.Is(err, net.ErrClosed) || s.ctx.Err() != nil:
			return
		default:
			s.o.Log.Warn("a connection cannot be accepted", "err", err)
			if together.Sleep(s.ctx, acceptPause) != nil {
				return
			}
		}
	}
}

func (s *Server) addConn(n net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= s.o.Connections || s.ctx.Err() != nil {
		s.stats.Full++
		_ = n.Close()
		if s.stats.Full == 1 {
			s.o.Log.Warn(
				"a switch was refused: there are as many connections as limits.connections allows",
				"remote",
				n.RemoteAddr(),
				"connections",
				len(s.conns),
			)
		}
		return
	}
	s.last++
	c := newConn(s, s.last, n)
	s.conns[c.id] = c
	s.group.Go(c.runReader)
	s.group.Go(c.writeMessages)
}

// Send queues a message. One that may be dropped is, when the switch does not read;
// for any other the connection is ended instead.
func (s *Server) Send(id uint64, frame []byte, droppable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conns[id]
	if c == nil || c.out.putFrame(frame) {
		return
	}
	if droppable {
		s.stats.DroppedFrames++
		return
	}
	c.closeWithReason("it does not read what it is sent")
}

// End closes a connection once what is queued was sent.
func (s *Server) End(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conns[id]; c != nil {
		c.out.finish()
	}
}

func (s *Server) removeConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.id)
}

func (s *Server) droppedPacket() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.DroppedPackets++
}
