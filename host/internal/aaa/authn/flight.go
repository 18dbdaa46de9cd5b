package authn

import (
	"context"
	"errors"
	"sync"
)

// flights are the verifications under way. Equal credentials at the same time are
// verified once, and a verification for which nobody waits any more is given up.
type flights struct {
	mu sync.Mutex
	m  map[string]*flight
}

type flight struct {
	done    chan struct{}
	abandon context.CancelFunc
	waiting int
	login   *Login
	err     error
}

var errNoOutcome = errors.New("the verification ended without an outcome")

// do calls verify, or waits for the call under way for the same key. The context
// that verify gets ends after loginTime, or when all who wait are gone.
func (f *flights) do(ctx context.Context, key string, verify func(context.Context) (*Login, error)) (*Login, error) {
	f.mu.Lock()
	if one := f.m[key]; one != nil {
		one.waiting++
		f.mu.Unlock()
		select {
		case <-one.done:
			return one.login, one.err
		case <-ctx.Done():
			f.leave(key, one)
			return nil, ctx.Err()
		}
	}
	shared, abandon := context.WithTimeout(context.WithoutCancel(ctx), loginTime)
	one := &flight{done: make(chan struct{}), abandon: abandon, waiting: 1, err: errNoOutcome}
	if f.m == nil {
		f.m = map[string]*flight{}
	}
	f.m[key] = one
	f.mu.Unlock()
	stay := context.AfterFunc(ctx, func() { f.leave(key, one) })
	defer func() { // also when verify panics
		stay()
		f.forget(key, one)
		close(one.done)
		abandon()
	}()
	one.login, one.err = verify(shared)
	return one.login, one.err
}

// leave is called when the client of one who waits has gone.
func (f *flights) leave(key string, one *flight) {
	f.mu.Lock()
	one.waiting--
	last := one.waiting == 0
	if last && f.m[key] == one { // who comes now begins anew
		delete(f.m, key)
	}
	f.mu.Unlock()
	if last {
		one.abandon()
	}
}

func (f *flights) forget(key string, one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m[key] == one {
		delete(f.m, key)
	}
}
