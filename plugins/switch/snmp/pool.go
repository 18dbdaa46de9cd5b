package snmp

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"
)

// pool hands out sessions. No more than max sockets are open, busy and idle ones
// together, and no more than perSwitch are busy with one address.
type pool struct {
	busy      chan struct{} // a token for each busy session
	addresses limiter       // requests to one address

	mu     sync.Mutex
	open   int
	max    int
	idle   *list.List // of *session, the longest idle first
	closed bool
}

var errClosed = errors.New("the SNMP client is closed")

func newPool(maxSockets, perSwitch int) *pool {
	return &pool{busy: make(chan struct{}, maxSockets), addresses: limiter{width: perSwitch, slots: map[netip.AddrPort]*slots{}}, max: maxSockets, idle: list.New()}
}

// acquire returns an idle session of the target or a new one made by open. It
// waits while too many are busy.
func (p *pool) acquire(ctx context.Context, t Target, open func() (*session, error)) (*session, error) {
	leave, err := p.addresses.enter(ctx, t.Addr)
	if err != nil {
		return nil, &Error{Op: "waiting for requests to the same switch", OID: t.String(), Cause: err}
	}
	select {
	case p.busy <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, &Error{Op: "waiting for a free socket", OID: t.String(), Cause: ctx.Err()}
	}
	s, err := p.take(t)
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
		leave()
		return nil, err
	}
	s.leave = leave
	return s, nil
}

// take finds an idle session of the target; nil means that one may be opened.
func (p *pool) take(t Target) (*session, error) {
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
		p.evict()
	}
	p.open++
	return nil, nil
}

// evict closes the session that has been idle longest.
func (p *pool) evict() {
	if e := p.idle.Front(); e != nil {
		_ = p.idle.Remove(e).(*session).g.Close()
		p.open--
	}
}

func (p *pool) release(s *session, good bool) {
	p.mu.Lock()
	leave := s.leave
	if good && !p.closed {
		p.idle.PushBack(s)
	} else {
		_ = s.g.Close()
		p.open--
	}
	p.mu.Unlock()
	<-p.busy
	leave()
}

// drop closes the idle sessions of a target.
func (p *pool) drop(t Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.idle.Front(); e != nil; {
		next := e.Next()
		if s := e.Value.(*session); s.target == t {
			p.idle.Remove(e)
			_ = s.g.Close()
			p.open--
		}
		e = next
	}
}

func (p *pool) trim(keep int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.idle.Len() > keep {
		p.evict()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.idle.Len() > 0 {
		p.evict()
	}
}

func (p *pool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// limiter bounds the requests under way to each address.
type limiter struct {
	width int
	mu    sync.Mutex
	slots map[netip.AddrPort]*slots
}

type slots struct {
	tokens chan struct{}
	users  int
}

// enter waits for a slot; leave must be called once. It fails with the error of ctx when that ends first.
func (l *limiter) enter(ctx context.Context, at netip.AddrPort) (leave func(), err error) {
	l.mu.Lock()
	s := l.slots[at]
	if s == nil {
		s = &slots{tokens: make(chan struct{}, l.width)}
		l.slots[at] = s
	}
	s.users++
	l.mu.Unlock()
	drop := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(l.slots, at)
		}
	}
	select {
	case s.tokens <- struct{}{}:
		return func() { <-s.tokens; drop() }, nil
	case <-ctx.Done():
		drop()
		return nil, ctx.Err()
	}
}
