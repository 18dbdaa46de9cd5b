// Package events is the controller's event bus: streams of JSON events that plugins
// and rooms of the host publish, for RESTCONF streams, other plugins and the
// console. A publisher never waits; a subscriber that is too slow loses the oldest
// events and learns how many. What must not be lost belongs in the datastore,
// whose watches can be resumed.
package events

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Event is one thing that happened.
type Event struct {
	Stream    string
	Publisher string // name of a plugin, or "host"
	Data      []byte // JSON: one member, "module:notification"; do not change it
	Time      time.Time
	Carry     bool   // nodes of the cluster carry it to their subscribers, too
	Lost      uint64 // events this subscriber was too slow for, before this one
}

// ErrClosed is returned by Next after the end of the bus or the subscription.
var ErrClosed = errors.New("events: the subscription is closed")

// Bus distributes events. It is safe for concurrent use.
type Bus struct {
	mu     sync.RWMutex
	subs   map[*Subscription]struct{}
	closed bool
}

// New returns a bus without subscribers.
func New() *Bus {
	return &Bus{subs: map[*Subscription]struct{}{}}
}

// Publish hands an event to everybody who has subscribed to its stream. It never
// waits for them.
func (b *Bus) Publish(stream, publisher string, data []byte) {
	b.Put(Event{
		Stream:    stream,
		Publisher: publisher,
		Data:      data,
		Time:      time.Now(),
	})
}

// Put is Publish of an event that is complete.
func (b *Bus) Put(e Event) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subs {
		if s.carried && e.Carry || s.wantsStream(e.Stream) {
			s.putEvent(e)
		}
	}
}

// Wanted reports whether anybody is subscribed to a stream, so that who publishes
// often need not create events without a subscriber.
func (b *Bus) Wanted(stream string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subs {
		if s.wantsStream(stream) {
			return true
		}
	}
	return false
}

// Subscribe returns a subscription to some streams, or to all when none is named,
// that keeps up to size events for its reader.
func (b *Bus) Subscribe(size int, streams ...string) *Subscription {
	return b.subscribeStreams(size, false, streams)
}

// Carried returns a subscription to what other nodes are to get, of all streams. It does not make a
// stream wanted.
func (b *Bus) Carried(size int) *Subscription {
	return b.subscribeStreams(size, true, nil)
}

func (b *Bus) subscribeStreams(size int, carried bool, streams []string) *Subscription {
	s := &Subscription{
		bus:     b,
		carried: carried,
		queue:   make(chan Event, max(size, 1)),
		done:    make(chan struct{}),
	}
	if len(streams) > 0 {
		s.streams = map[string]bool{}
		for _, n := range streams {
			s.streams[n] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(s.done)
		return s
	}
	b.subs[s] = struct{}{}
	return s
}

// Close ends every subscription.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		delete(b.subs, s)
		close(s.done)
	}
}

// Subscription is one reader's view of the bus.
type Subscription struct {
	bus     *Bus
	carried bool            // only what is carried to other nodes
	streams map[string]bool // nil = all
	queue   chan Event
	bytes   atomic.Int64 // of the events in queue
	done    chan struct{}

	mu   sync.Mutex // held by who puts
	lost uint64
}

// maxQueued bounds the bytes of the events that wait for one reader.
const maxQueued = 8 << 20

func (s *Subscription) wantsStream(stream string) bool {
	return !s.carried && (s.streams == nil || s.streams[stream])
}

func (s *Subscription) putEvent(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes.Add(int64(len(e.Data)))
	for {
		if s.bytes.Load() <= maxQueued {
			select {
			case s.queue <- e:
				return
			default:
			}
		}
		select {
		case old := <-s.queue:
			s.bytes.Add(-int64(len(old.Data)))
			s.lost++
		default:
			if s.bytes.Load() == int64(len(e.Data)) &&
				len(e.Data) > maxQueued { // larger than the queue may be
				s.bytes.Add(-int64(len(e.Data)))
				s.lost++
				return
			}
		}
	}
}

// Next returns the next event, waiting for it if need be. It fails with ErrClosed
// at the end of the subscription, or with the error of ctx. One goroutine at a time
// may call it.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	select {
	case e := <-s.queue:
		return s.withLostCount(e), nil
	case <-ctx.Done():
		return Event{}, ctx.Err()
	case <-s.done:
	}
	select {
	case e := <-s.queue: // that came before the end
		return s.withLostCount(e), nil
	default:
		return Event{}, ErrClosed
	}
}

// withLostCount adds how many events were lost since the one before.
func (s *Subscription) withLostCount(e Event) Event {
	s.bytes.Add(-int64(len(e.Data))) // before the lock: who puts waits for it with the lock held
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Lost, s.lost = s.lost, 0
	return e
}

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	if _, ok := s.bus.subs[s]; ok {
		delete(s.bus.subs, s)
		close(s.done)
	}
}
