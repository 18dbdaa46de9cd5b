package snmp

import (
	"context"
	"net/netip"
	"sync"
)

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
