package switchdriver

import (
	"context"
	"sync"

	"ctl.internal/sdk/fault"
)

// Turns lets one change at a time be made on each switch: drivers take a turn
// around read, change and read-back. The zero value is ready; it is safe for
// concurrent use, and switches without waiting calls need no memory.
type Turns struct {
	mu    sync.Mutex
	queue map[string]*turn
}

type turn struct {
	token chan struct{}
	users int
}

// Take waits for the turn at a switch; done must be called once. When ctx ends
// first it fails with fault.Timeout, which names the switch.
func (t *Turns) Take(ctx context.Context, sw *Switch) (done func(), err error) {
	key := Label(sw)
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[string]*turn{}
	}
	q := t.queue[key]
	if q == nil {
		q = &turn{token: make(chan struct{}, 1)}
		t.queue[key] = q
	}
	q.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(t.queue, key)
		}
	}
	select {
	case q.token <- struct{}{}:
		return func() { <-q.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fault.Wrap(
			fault.Timeout,
			ctx.Err(),
			"switch %s is busy with other changes",
			key,
		)
	}
}
