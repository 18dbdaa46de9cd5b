package password

import (
	"context"
	"net/netip"
	"slices"
	"sync"
)

type originKey struct{}

// From returns a context whose hashes are made for somebody at an address; without
// one they are made for the controller itself.
func From(ctx context.Context, origin netip.Addr) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// line gives out the places in which hashes run. When there are too few, the origins
// take turns: many logins from one address delay another address by one each.
type line struct {
	mu      sync.Mutex
	free    int // 0 while somebody waits
	waiting map[netip.Addr][]chan struct{}
	order   []netip.Addr // of those who wait, whose turn is next first
}

// enter waits for a place.
func (l *line) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	origin, _ := ctx.Value(originKey{}).(netip.Addr)
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if len(l.waiting[origin]) == 0 {
		l.order = append(l.order, origin)
	}
	l.waiting[origin] = append(l.waiting[origin], turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if !l.forgetTurn(origin, turn) {
		l.leave()
	}
	return ctx.Err()
}

// leave hands the place on.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		l.free++
		return
	}
	next := l.order[0]
	l.order = l.order[1:]
	turns := l.waiting[next]
	close(turns[0])
	if turns = turns[1:]; len(turns) == 0 {
		delete(l.waiting, next)
		return
	}
	l.waiting[next] = turns
	l.order = append(l.order, next)
}

// forgetTurn takes somebody out of the line; false when it was its turn already.
func (l *line) forgetTurn(origin netip.Addr, turn chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	turns := l.waiting[origin]
	at := slices.Index(turns, turn)
	if at < 0 {
		return false
	}
	if turns = slices.Delete(turns, at, at+1); len(turns) > 0 {
		l.waiting[origin] = turns
		return true
	}
	delete(l.waiting, origin)
	at = slices.Index(l.order, origin)
	l.order = slices.Delete(l.order, at, at+1)
	return true
}
