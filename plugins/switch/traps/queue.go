package traps

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"ctl.internal/internal/together"
)

// message is what came in one datagram.
type message struct {
	from netip.AddrPort
	at   time.Time
	data []byte
}

// maxQueued is how many messages wait to be decoded.
const maxQueued = 4096

// queue has the messages that wait. Senders are served in turn, and when it is full the one with the most messages loses
// one, so that a storm of one hides nothing of the others. It is safe for concurrent use.
type queue struct {
	mu    sync.Mutex
	by    map[netip.Addr][]message
	turn  []netip.Addr // senders with messages
	count int
	wake  chan struct{}
}

func newQueue() *queue {
	return &queue{
		by:   map[netip.Addr][]message{},
		wake: make(chan struct{}, 1),
	}
}

// putMessage adds a message of a sender, and reports whether one was lost for it.
func (q *queue) putMessage(sender netip.Addr, m message) (lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count == maxQueued {
		lost = true
		longest := sender
		for a, waiting := range q.by {
			if len(waiting) > len(q.by[longest]) {
				longest = a
			}
		}
		if longest == sender {
			return lost
		}
		waiting := q.by[longest]
		q.by[longest] = waiting[:len(waiting)-1] // the newest; it was the longest, so others are left
		q.count--
	}
	if len(q.by[sender]) == 0 {
		q.turn = append(q.turn, sender)
	}
	q.by[sender] = append(q.by[sender], m)
	q.count++
	together.Notify(q.wake)
	return lost
}

// takeMessage returns the next message, of the sender whose turn it is; false when ctx has ended.
func (q *queue) takeMessage(ctx context.Context) (message, bool) {
	for ctx.Err() == nil {
		if m, ok := q.nextMessage(); ok {
			return m, true
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
	return message{}, false
}

func (q *queue) nextMessage() (message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.turn) == 0 {
		return message{}, false
	}
	sender := q.turn[0]
	q.turn = q.turn[1:]
	m := q.by[sender][0]
	q.count--
	if rest := q.by[sender][1:]; len(rest) > 0 {
		q.by[sender] = rest
		q.turn = append(q.turn, sender)
	} else {
		delete(q.by, sender)
	}
	return m, true
}
