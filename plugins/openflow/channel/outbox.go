package channel

import "sync"

// outbox is what waits to be sent, in bytes: several messages go out in one write.
type outbox struct {
	mu    sync.Mutex
	buf   []byte
	limit int
	last  bool // nothing may follow
	wake  chan struct{}
}

func newOutbox(limit int) *outbox { return &outbox{limit: limit, wake: make(chan struct{}, 1)} }

// put queues a message; false when there is no room.
func (o *outbox) put(frame []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last {
		return true
	}
	if len(o.buf)+len(frame) > o.limit {
		return false
	}
	o.buf = append(o.buf, frame...)
	o.ring()
	return true
}

// finish lets nothing follow what is queued.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = true
	o.ring()
}

func (o *outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// keep is the greatest buffer that an idle connection holds on to.
const keep = 4096

// take exchanges what is queued for an empty buffer, and reports whether it is the last.
func (o *outbox) take(empty []byte) (full []byte, last bool) {
	if cap(empty) > keep {
		empty = nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	full, o.buf = o.buf, empty[:0]
	return full, o.last
}
