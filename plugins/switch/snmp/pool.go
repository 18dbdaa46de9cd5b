package snmp

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// pool hands out sessions. No more than max sockets are open, busy and idle ones together.
type pool struct {
	busy chan struct{} // a token for each busy session

	mu     sync.Mutex
	open   int
	max    int
	idle   *list.List // of *session, the longest idle first
	closed bool
}

var errClosed = errors.New("the SNMP client is closed")

func newPool(maxSockets int) *pool {
	return &pool{
		busy: make(chan struct{}, maxSockets),
		max:  maxSockets,
		idle: list.New(),
	}
}

// acquireSession returns an idle session of the target or a new one made by open. It
// waits while too many are busy.
func (p *pool) acquireSession(
	ctx context.Context,
	t Target,
	open func() (*session, error),
) (*session, error) {
	select {
	case p.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, &Error{
			Op:    "waiting for a free socket",
			OID:   t.String(),
			Cause: ctx.Err(),
		}
	}
	s, err := p.takeIdle(t)
	if s == nil && err == nil {
		s, err = open()
		if err != nil {
			p.mu.Lock()
			p.open--
			p.mu.Unlock()
		}
	}
	if err != nil {
		<-p.busy
		return nil, err
	}
	return s, nil
}

// takeIdle finds an idle session of the target; nil means that one may be opened.
func (p *pool) takeIdle(t Target) (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	for e := p.idle.Back(); e != nil; e = e.Prev() {
		if s := e.Value.(*session); s.target == t {
			p.idle.Remove(e)
			return s, nil
		}
	}
	if p.open >= p.max {
		p.evictLongestIdle()
	}
	p.open++
	return nil, nil
}

// evictLongestIdle closes the session that has been idle longest.
func (p *pool) evictLongestIdle() {
	if e := p.idle.Front(); e != nil {
		p.endSession(e)
	}
}

// endSession closes an idle session. p.mu is held.
func (p *pool) endSession(e *list.Element) {
	_ = p.idle.Remove(e).(*session).g.Close()
	p.open--
}

func (p *pool) releaseSession(s *session, good bool) {
	p.mu.Lock()
	if good && !p.closed {
		p.idle.PushBack(s)
	} else {
		_ = s.g.Close()
		p.open--
	}
	p.mu.Unlock()
	<-p.busy
}

// dropTarget closes the idle sessions of a target.
func (p *pool) dropTarget(t Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.idle.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*session).target == t {
			p.endSession(e)
		}
		e = next
	}
}

func (p *pool) trim(keep int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.idle.Len() > keep {
		p.evictLongestIdle()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.idle.Len() > 0 {
		p.evictLongestIdle()
	}
}

func (p *pool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}
