package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/openflow/ofp13"
)

// conn is one connection.
type conn struct {
	s      *Server
	id     uint64
	net    net.Conn
	out    *outbox
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	mu     sync.Mutex
	reason string // why it ends, the first one given
}

const (
	writeTimeout     = 10 * time.Second
	handshakeTimeout = 10 * time.Second // of TLS
)

func newConn(s *Server, id uint64, n net.Conn) *conn {
	c := &conn{s: s, id: id, net: n, out: newOutbox(s.o.Outbox)}
	if s.o.TLS != nil {
		c.net = tls.Server(n, s.o.TLS)
	}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// closeWithReason closes the connection; the first reason is the one that is kept.
func (c *conn) closeWithReason(reason string) {
	c.mu.Lock()
	if c.reason == "" {
		c.reason = reason
	}
	c.mu.Unlock()
	c.cancel()
	_ = c.net.Close()
}

func (c *conn) reportEvent(e Event) bool {
	e.Conn = c.id
	select {
	case c.s.events <- e:
		return true
	case <-c.s.ctx.Done():
		return false
	}
}

// runReader reads messages until the connection ends, and reports that.
func (c *conn) runReader() {
	defer c.s.removeConn(c)
	defer c.cancel()
	remote := c.net.RemoteAddr().String()
	if t, ok := c.net.(*tls.Conn); ok {
		ctx, cancel := context.WithTimeout(c.ctx, handshakeTimeout)
		err := t.HandshakeContext(ctx)
		cancel()
		if err != nil {
			c.s.o.Log.Warn("a switch did not agree on TLS", "remote", remote, "err", err)
			c.closeWithReason("TLS failed")
			return
		}
	}
	if !c.reportEvent(Event{Kind: Opened, Remote: remote}) {
		c.closeWithReason("the controller stops")
		return
	}
	c.closeWithReason(disconnectReason(c.readMessages()))
	c.reportEvent(Event{Kind: Closed, Reason: c.reason})
}

func (c *conn) readMessages() error {
	messages := rate.NewLimiter(rate.Limit(c.s.o.Messages), c.s.o.Messages)
	packets := rate.NewLimiter(rate.Limit(c.s.o.PacketIns), c.s.o.PacketIns)
	r := ofp13.NewReader(c.net)
	for {
		h, body, err := r.Next()
		if err != nil {
			return err
		}
		if h.Type == ofp13.TypePacketIn && !packets.Allow() {
			c.s.droppedPacket()
			continue
		}
		if err := messages.Wait(c.ctx); err != nil {
			return err
		}
		m := ofp13.Message(ofp13.Other{T: h.Type, Body: body})
		if h.Version == ofp13.Version || h.Type == ofp13.TypeHello || h.Type == ofp13.TypeError {
			if m, err = ofp13.Decode(h.Type, body); err != nil {
				return err
			}
		}
		if !c.reportEvent(Event{
			Kind:    Received,
			Header:  h,
			Message: m,
		}) {
			return errors.New("the controller stops")
		}
	}
}

func disconnectReason(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "the switch closed it"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the switch closed it in the middle of a message"
	}
	return err.Error()
}

// writeMessages sends what is queued until the connection ends.
func (c *conn) writeMessages() {
	var spare []byte
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.out.wake:
		}
		full, last := c.out.takeQueued(spare)
		if len(full) > 0 {
			if err := c.net.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
				c.closeWithReason(err.Error())
				return
			}
			if _, err := c.net.Write(full); err != nil {
				c.closeWithReason("it does not take what it is sent: " + err.Error())
				return
			}
		}
		spare = full
		if last {
			c.closeWithReason("ended")
			return
		}
	}
}

// outbox is what waits to be sent, in bytes: several messages go out in one write.
type outbox struct {
	mu    sync.Mutex
	buf   []byte
	limit int
	last  bool // nothing may follow
	wake  chan struct{}
}

func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, wake: make(chan struct{}, 1)}
}

// putFrame queues a message; false when there is no room.
func (o *outbox) putFrame(frame []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last {
		return true
	}
	if len(o.buf)+len(frame) > o.limit {
		return false
	}
	o.buf = append(o.buf, frame...)
	together.Notify(o.wake)
	return true
}

// finish lets nothing follow what is queued.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = true
	together.Notify(o.wake)
}

// keep is the greatest buffer that an idle connection holds on to.
const keep = 4096

// takeQueued exchanges what is queued for an empty buffer, and reports whether it is the last.
func (o *outbox) takeQueued(empty []byte) (full []byte, last bool) {
	if cap(empty) > keep {
		empty = nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	full, o.buf = o.buf, empty[:0]
	return full, o.last
}
