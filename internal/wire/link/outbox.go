package link

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

const (
	maxAnswer = wire.MaxMessage
	// chunk is the size of the parts of a large answer: one goes with each batch of
	// small ones, so that these do not wait for it.
	chunk = 16 << 10
	// maxLarge bounds the bytes of large answers that are queued. As many more may wait for
	// their room; beyond that calls fail, because the other end does not read.
	maxLarge = wire.MaxMessage
	// maxSmall are the bytes of small answers above which no more calls are read.
	maxSmall = 4 << 20
)

// answerRoom is what all links of a Server have for answers that the other end has not read.
type answerRoom struct {
	large   *semaphore.Weighted
	waiting atomic.Int64 // bytes of large answers that wait for room
	small   atomic.Int64 // bytes of small answers that are queued
	calls   atomic.Int64 // that are being served, until their answer is queued
}

func newAnswerRoom() *answerRoom {
	return &answerRoom{large: semaphore.NewWeighted(maxLarge)}
}

var errUnread = status.Errorf(codes.ResourceExhausted,
	"%d MiB of answers wait to be read at the other end of the link: read them, and call again", 2*maxLarge>>20)

// acquireLarge waits for room for a large answer while ctx lasts.
func (r *answerRoom) acquireLarge(ctx context.Context, n int) error {
	if r.large.TryAcquire(int64(n)) {
		return nil
	}
	defer r.waiting.Add(-int64(n))
	now := r.waiting.Add(int64(n))
	if now > maxLarge && now > int64(n) {
		return errUnread
	}
	return r.large.Acquire(ctx, int64(n))
}

var answers = sync.Pool{New: func() any { return &pluginv1.LinkAnswer{} }}

// outbox is what a plugin has to answer.
type outbox struct {
	wake  chan struct{}
	sent  chan struct{} // small answers were sent
	room  *answerRoom
	mu    sync.Mutex
	over  bool
	small []*pluginv1.LinkAnswer
	large []*large // in turn
}

// large is an answer that is sent in parts.
type large struct {
	id   uint64
	body []byte
	sent int
}

func newOutbox(room *answerRoom) *outbox {
	return &outbox{
		wake: make(chan struct{}, 1),
		sent: make(chan struct{}, 1),
		room: room,
	}
}

// weight is what a small answer takes of the memory.
func weight(a *pluginv1.LinkAnswer) int64 {
	return int64(len(a.Response)+len(a.Status)) + 64
}

// addAnswer queues an answer; for a large one the caller has acquired room, which is free again when it was sent.
func (o *outbox) addAnswer(a *pluginv1.LinkAnswer) {
	isLarge := len(a.Response) > chunk
	o.mu.Lock()
	switch {
	case o.over && isLarge:
		o.room.large.Release(int64(len(a.Response)))
	case o.over:
	case isLarge:
		o.large = append(o.large, &large{
			id:   a.Id,
			body: a.Response,
		})
	default:
		o.room.small.Add(weight(a))
		o.small = append(o.small, a)
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// dropAnswer removes the parts of an answer whose caller no longer waits.
func (o *outbox) dropAnswer(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, l := range o.large {
		if l.id == id {
			o.large = append(o.large[:i], o.large[i+1:]...)
			o.room.large.Release(int64(len(l.body)))
			return
		}
	}
}

// close drops what is queued: the link has ended.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	for _, l := range o.large {
		o.room.large.Release(int64(len(l.body)))
	}
	for _, a := range o.small {
		o.room.small.Add(-weight(a))
	}
	o.large, o.small = nil, nil
}

// waitSmall waits until the other end has read so much that small answers have room again.
func (o *outbox) waitSmall(ctx context.Context) {
	for o.room.small.Load() > maxSmall && o.pending() {
		select {
		case <-o.sent:
		case <-ctx.Done():
			return
		}
	}
}

// pending reports whether small answers of this link are queued.
func (o *outbox) pending() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.small) > 0
}

// writeAnswers sends what is there until ctx ends or the stream does.
func (o *outbox) writeAnswers(ctx context.Context, send func(*pluginv1.CarryResponse) error) {
	m := &pluginv1.CarryResponse{}
	for {
		select {
		case <-o.wake:
		case <-ctx.Done():
			return
		}
		runtime.Gosched() // handlers that are about to answer do so in the same message
		for {
			whole := o.takeAnswers(m)
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

// takeAnswers moves small answers, and one part of one large, into a message. It returns
// how many are whole.
func (o *outbox) takeAnswers(m *pluginv1.CarryResponse) (whole int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, size := 0, 0
	for n < len(o.small) && size < batchBytes {
		size += len(o.small[n].Response) + len(o.small[n].Status)
		o.room.small.Add(-weight(o.small[n]))
		n++
	}
	m.Answers = append(m.Answers[:0], o.small[:n]...)
	left := copy(o.small, o.small[n:])
	clear(o.small[left:])
	o.small = o.small[:left]
	select {
	case o.sent <- struct{}{}:
	default:
	}
	if len(o.large) > 0 {
		m.Answers = append(m.Answers, o.nextPart())
	}
	return n
}

// nextPart is the next part of the large answer whose turn it is.
func (o *outbox) nextPart() *pluginv1.LinkAnswer {
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
		o.room.large.Release(int64(len(l.body)))
	}
	return a
}
