package link

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

const (
	maxAnswer = wire.MaxMessage
	// chunk is the size of the parts of a large answer: one goes with each batch of
	// small ones, so that these do not wait for it.
	chunk = 16 << 10
	// maxLarge bounds the bytes of large answers that wait; more of them wait outside.
	maxLarge = wire.MaxMessage
)

var answers = sync.Pool{New: func() any { return &pluginv1.LinkAnswer{} }}

// outbox is what a plugin has to answer.
type outbox struct {
	wake  chan struct{}
	room  *semaphore.Weighted
	mu    sync.Mutex
	small []*pluginv1.LinkAnswer
	large []*large // in turn
}

// large is an answer that is sent in parts.
type large struct {
	id   uint64
	body []byte
	sent int
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), room: semaphore.NewWeighted(maxLarge)}
}

// add queues an answer. A large one waits until there is room for it, while ctx
// lasts: after that its caller no longer waits.
func (o *outbox) add(ctx context.Context, a *pluginv1.LinkAnswer) {
	if n := len(a.Response); n > chunk {
		if o.room.Acquire(ctx, int64(n)) != nil {
			return
		}
		o.mu.Lock()
		o.large = append(o.large, &large{id: a.Id, body: a.Response})
		o.mu.Unlock()
	} else {
		o.mu.Lock()
		o.small = append(o.small, a)
		o.mu.Unlock()
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// drop removes the parts of an answer whose caller no longer waits.
func (o *outbox) drop(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, l := range o.large {
		if l.id == id {
			o.large = append(o.large[:i], o.large[i+1:]...)
			o.room.Release(int64(len(l.body)))
			return
		}
	}
}

// write sends what is there until ctx ends or the stream does.
func (o *outbox) write(ctx context.Context, send func(*pluginv1.CarryResponse) error) {
	m := &pluginv1.CarryResponse{}
	for {
		select {
		case <-o.wake:
		case <-ctx.Done():
			return
		}
		runtime.Gosched() // handlers that are about to answer do so in the same message
		for {
			whole := o.take(m)
			if len(m.Answers) == 0 {
				break
			}
			if send(m) != nil {
				return
			}
			for _, a := range m.Answers[:whole] {
				answers.Put(a)
			}
			clear(m.Answers)
		}
	}
}

// take moves small answers, and one part of one large, into a message. It returns
// how many are whole.
func (o *outbox) take(m *pluginv1.CarryResponse) (whole int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, size := 0, 0
	for n < len(o.small) && size < batchBytes {
		size += len(o.small[n].Response) + len(o.small[n].Status)
		n++
	}
	m.Answers = append(m.Answers[:0], o.small[:n]...)
	left := copy(o.small, o.small[n:])
	clear(o.small[left:])
	o.small = o.small[:left]
	if len(o.large) > 0 {
		m.Answers = append(m.Answers, o.part())
	}
	return n
}

// part is the next part of the large answer whose turn it is.
func (o *outbox) part() *pluginv1.LinkAnswer {
	l := o.large[0]
	o.large = append(o.large[:0], o.large[1:]...)
	a := &pluginv1.LinkAnswer{Id: l.id}
	if l.sent == 0 {
		a.Size = uint64(len(l.body))
	}
	end := min(len(l.body), l.sent+chunk)
	a.Response = l.body[l.sent:end:end]
	if l.sent = end; end < len(l.body) {
		o.large = append(o.large, l)
	} else {
		o.room.Release(int64(len(l.body)))
	}
	return a
}
