package server

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// slot is the place of one request among those in flight. Only work counts: while
// the request waits for its client to send more of the body, others may have it.
type slot struct {
	all chan struct{}

	mu         sync.Mutex
	held, done bool
}

// pause gives the place up.
func (s *slot) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		s.held = false
		<-s.all
	}
}

// resume waits for a place again.
func (s *slot) resume(ctx context.Context) error {
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held || s.done { // whoever reads beside the handler needs none
		<-s.all
		return nil
	}
	s.held = true
	return nil
}

// end gives the place up for good.
func (s *slot) end() {
	s.pause()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}

// body is a request's body whose reader holds nothing while it waits.
type body struct {
	io.ReadCloser
	ctx  context.Context
	slot *slot // nil without a bound
	conn *conn // nil in tests
}

// waiting gives a request's body back, such that waiting for it holds no place.
func waiting(r *http.Request, s *slot) io.ReadCloser {
	return &body{r.Body, r.Context(), s, connOf(r.Context())}
}

// Read reads what the client has sent.
func (b *body) Read(p []byte) (int, error) {
	if b.conn != nil {
		b.conn.wait()
		defer b.conn.serve()
	}
	if b.slot == nil {
		return b.ReadCloser.Read(p)
	}
	b.slot.pause()
	n, err := b.ReadCloser.Read(p)
	if again := b.slot.resume(b.ctx); again != nil && err == nil {
		err = again
	}
	return n, err
}
