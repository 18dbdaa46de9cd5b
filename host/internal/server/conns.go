package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// reservedFiles are the file descriptors kept for the store, the plugins and the log.
const reservedFiles = 512

// connectionsFor is how many connections a listener may hold: as many as the
// settings say, and no more than the process has file descriptors for.
func connectionsFor(wanted int) int {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return wanted
	}
	const listeners = 2 // http and https; the admin listener is for loopback
	most := 64
	if files.Cur > reservedFiles+listeners*uint64(most) {
		most = int(min((files.Cur-reservedFiles)/listeners, 1<<20))
	}
	if wanted > 0 {
		most = min(most, wanted)
	}
	return most
}

// connLimiter bounds the connections of a listener. When there are too many, the one whose
// client has let us wait longest is closed for the one that comes: clients that hold
// connections without using them, or send single bytes slowly, cannot lock out others.
type connLimiter struct {
	net.Listener
	max   int
	stall time.Duration // write stall timeout: an answer that its client does not read for so long is ended; 0 = none

	mu      sync.Mutex
	changed sync.Cond
	open    map[*conn]struct{}
	closed  bool
	full    atomic.Bool // a connection waits for room
}

func newConnLimiter(ln net.Listener, most int, stall time.Duration) *connLimiter {
	g := &connLimiter{
		Listener: ln,
		max:      most,
		stall:    stall,
		open:     map[*conn]struct{}{},
	}
	g.changed.L = &g.mu
	return g
}

// Accept returns the next connection once there is room for it.
func (g *connLimiter) Accept() (net.Conn, error) {
	raw, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, limiter: g}
	c.noteClientTurn()
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.open) >= g.max && !g.closed {
		g.full.Store(true) // before looking: one that becomes idle meanwhile then says so
		if g.closeIdlest() {
			break
		}
		g.changed.Wait()
	}
	g.full.Store(false)
	if g.closed {
		raw.Close()
		return nil, net.ErrClosed
	}
	g.open[c] = struct{}{}
	return c, nil
}

// closeIdlest closes the connection that has waited longest for its client, and
// reports whether there was one. The lock is held.
func (g *connLimiter) closeIdlest() bool {
	var idlest *conn
	var since int64
	for c := range g.open {
		s := c.since.Load()
		if s != 0 && (idlest == nil || s < since) {
			idlest, since = c, s
		}
	}
	if idlest == nil {
		return false
	}
	delete(g.open, idlest)
	idlest.Conn.Close()
	return true
}

// Close closes the listener; a connection that waits for room is refused.
func (g *connLimiter) Close() error {
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	return g.Listener.Close()
}

// noteConnState notes which connections wait for their client; it is http.Server.ConnState.
func (g *connLimiter) noteConnState(c net.Conn, s http.ConnState) {
	own := limitedConn(c)
	switch {
	case own == nil:
	case s == http.StateActive:
		own.noteOwnTurn()
	case s == http.StateIdle:
		own.noteClientTurn()
	}
}

// limitedConn is the connection of a limiter below what the server has put on top.
func limitedConn(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

// conn is one connection of a limiter.
type conn struct {
	net.Conn
	limiter *connLimiter
	since   atomic.Int64 // when the wait for the client began; 0 while it is served
	armed   atomic.Int64 // when Write set the write deadline last; 0 = it has to set it
}

var clock = time.Now() // the beginning of the times in conn

func clockTicks() int64 { return int64(time.Since(clock)) + 1 }

// noteClientTurn notes that it is the client's turn.
func (c *conn) noteClientTurn() {
	c.since.Store(clockTicks())
	if c.limiter.full.Load() {
		c.limiter.mu.Lock()
		c.limiter.changed.Broadcast()
		c.limiter.mu.Unlock()
	}
}

// noteOwnTurn notes that it is our turn.
func (c *conn) noteOwnTurn() { c.since.Store(0) }

// writePiece is how much a client must take before the time begins again.
const writePiece = 64 << 10

// Write writes p, with the time to stall for each piece of it.
func (c *conn) Write(p []byte) (n int, err error) {
	if c.limiter.stall <= 0 {
		return c.Conn.Write(p)
	}
	for {
		now, armed := clockTicks(), c.armed.Load()
		if armed == 0 ||
			now-armed > int64(c.limiter.stall/64) { // not for each short write, for it costs
			if err := c.Conn.SetWriteDeadline(time.Now().Add(c.limiter.stall)); err != nil {
				return n, err
			}
			c.armed.Store(now)
		}
		m, err := c.Conn.Write(p[n:min(n+writePiece, len(p))])
		if n += m; err != nil || n == len(p) {
			return n, err
		}
	}
}

// SetWriteDeadline sets the deadline of a handler, until the next Write. The server clears it after each request;
// that of Write stays, for it does no harm to a connection that writes nothing.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() && c.limiter.stall > 0 {
		return nil
	}
	c.armed.Store(0)
	return c.Conn.SetWriteDeadline(t)
}

// Close makes room for another.
func (c *conn) Close() error {
	g := c.limiter
	g.mu.Lock()
	delete(g.open, c)
	g.changed.Broadcast()
	g.mu.Unlock()
	return c.Conn.Close()
}

type connKey struct{}

// connOf returns the connection a request came on, nil in tests without one.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
