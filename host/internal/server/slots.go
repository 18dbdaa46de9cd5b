package server

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// inFlight is how many requests are worked on.
type inFlight struct{ atomic.Int64 }

// releaseWhileWaiting gives the place of a request up for as long as it waits, for the verification
// of a password or for an event, and returns what takes it again: however many log in or
// listen, others are served. Its connection may be closed for another meanwhile.
func (n *inFlight) releaseWhileWaiting(ctx context.Context) func() {
	c := connOf(ctx)
	if c == nil { // not a request
		return func() {}
	}
	c.noteClientTurn()
	n.Add(-1)
	return func() {
		n.Add(1)
		c.noteOwnTurn()
	}
}

// slot is the place of one request with a body among those in flight. Only work
// counts: while the request waits for its client to send more, others may have it.
type slot struct {
	now *inFlight

	mu         sync.Mutex
	held, done bool
}

// pause gives the place up.
func (s *slot) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		s.held = false
		s.now.Add(-1)
	}
}

// resume takes it again. It does not wait: who was let in comes to the end.
func (s *slot) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held && !s.done { // whoever reads beside the handler needs none
		s.held = true
		s.now.Add(1)
	}
}

// end gives the place up for good.
func (s *slot) end() {
	s.mu.Lock()
	s.done = true // before the place is free: a reader must not take it again in between
	s.mu.Unlock()
	s.pause()
}

// body is a request's body whose reader holds nothing while it waits.
type body struct {
	io.ReadCloser
	slot *slot
	conn *conn // nil in tests
}

// newWaitingBody gives a request's body back, such that waiting for it holds no place.
func newWaitingBody(r *http.Request, s *slot) io.ReadCloser {
	return &body{r.Body, s, connOf(r.Context())}
}

// Read reads what the client has sent.
func (b *body) Read(p []byte) (int, error) {
	if b.conn != nil {
		b.conn.noteClientTurn()
		defer b.conn.noteOwnTurn()
	}
	b.slot.pause()
	defer b.slot.resume()
	return b.ReadCloser.Read(p)
}
