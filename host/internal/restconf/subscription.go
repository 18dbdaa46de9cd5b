package restconf

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// The bounds of subscriptions (RFC 8639). One that nobody reads ends by itself.
const (
	maxSubscriptions       = 1024 // of this node
	maxSubscriptionsOfUser = 32
	maxUnread              = 5 * time.Minute
)

// allStreams is the stream of RFC 5277 that has the events of every stream.
const allStreams = "NETCONF"

// The reasons of subscription-terminated.
const (
	noSuchSubscription = "no-such-subscription"
	streamUnavailable  = "stream-unavailable"
	readerTooSlow      = "suspension-timeout"
)

// subscriptions are those of this node. They live in memory: a client of one that is gone gets 404
// and establishes another.
type subscriptions struct {
	mu  sync.Mutex
	all map[uint32]*subscription
}

// terms are what a subscription asks for; modify-subscription replaces them.
type terms struct {
	filter  *yang.XPath
	text    string // of filter
	subtree map[string]any
	stop    time.Time
	number  int // of the modification
}

// subscription is one dynamic subscription. Nothing runs for it but the request that reads it.
type subscription struct {
	id      uint32
	owner   string
	stream  string
	form    int
	since   time.Time // when it was established
	replay  time.Time // zero = none
	changed together.Signal

	mu      sync.Mutex
	terms   terms
	ended   string // the reason; "" = it lives
	reading bool
	idle    time.Time // since when nobody reads it
}

// add keeps a new subscription under an id that cannot be guessed from others, so that a client of the run before does
// not meet another's.
func (l *subscriptions) add(s *subscription, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	mine := 0
	for _, o := range l.all {
		if o.owner == s.owner {
			mine++
		}
	}
	switch {
	case mine >= maxSubscriptionsOfUser:
		return fault.New(fault.Unavailable, "a user may have %d subscriptions; delete one", maxSubscriptionsOfUser)
	case len(l.all) >= maxSubscriptions:
		return fault.New(fault.Unavailable, "there are %d subscriptions, which is the most; try again later", maxSubscriptions)
	}
	for s.id == 0 || l.all[s.id] != nil {
		s.id = rand.Uint32N(1<<31-1) + 1
	}
	if l.all == nil {
		l.all = map[uint32]*subscription{}
	}
	l.all[s.id] = s
	return nil
}

// sweep forgets those that nobody has read for long.
func (l *subscriptions) sweep(now time.Time) {
	for id, s := range l.all {
		if s.isForgotten(now) {
			delete(l.all, id)
		}
	}
}

// find returns a subscription of an owner; nil if there is none.
func (l *subscriptions) find(id uint32, owner string, now time.Time) *subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	s := l.all[id]
	if s == nil || s.owner != owner {
		return nil
	}
	return s
}

// ofOwner lists the subscriptions of an owner.
func (l *subscriptions) ofOwner(owner string, now time.Time) (out []*subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	for _, s := range l.all {
		if s.owner == owner {
			out = append(out, s)
		}
	}
	return out
}

// end ends a subscription; its reader gets the reason. It reports whether it was there.
func (l *subscriptions) end(id uint32, reason string) bool {
	l.mu.Lock()
	s := l.all[id]
	delete(l.all, id)
	l.mu.Unlock()
	if s == nil {
		return false
	}
	s.mu.Lock()
	s.ended = reason
	s.mu.Unlock()
	s.changed.Fire()
	return true
}

func (s *subscription) isForgotten(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.reading && now.Sub(s.idle) > maxUnread
}

// enter begins to read; false when another request reads it.
func (s *subscription) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading {
		return false
	}
	s.reading = true
	return true
}

func (s *subscription) leave(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading, s.idle = false, now
}

// current returns what is asked for now, why it has ended, and what is closed at the next change of either.
func (s *subscription) current() (t terms, ended string, changed <-chan struct{}) {
	changed = s.changed.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms, s.ended, changed
}

// modify replaces what is asked for.
func (s *subscription) modify(t terms) {
	s.mu.Lock()
	t.number = s.terms.number + 1
	s.terms = t
	s.mu.Unlock()
	s.changed.Fire()
}

// passes reports whether an event is asked for.
func (t *terms) passes(e *Event, sets []*yang.Set) bool {
	if t.filter != nil && !passesFilter(t.filter, e, sets) {
		return false
	}
	if t.subtree == nil {
		return true
	}
	want, named := t.subtree[e.Name]
	if !named {
		return false
	}
	var data any
	return json.Unmarshal(e.Data, &data) == nil && matchesSubtree(want, data)
}

// matchesSubtree reports whether data has the values of a subtree filter (RFC 6241 section 6.2.5). An element without
// content selects, so it holds for everything.
func matchesSubtree(want, data any) bool {
	switch w := want.(type) {
	case map[string]any:
		have, ok := data.(map[string]any)
		if !ok {
			return len(w) == 0
		}
		for name, member := range w {
			if !selectsAlone(member) && !matchesSubtree(member, have[name]) {
				return false
			}
		}
		return true
	case []any:
		for _, entry := range w {
			if !matchesEntry(entry, data) {
				return false
			}
		}
		return true
	case nil:
		return true
	}
	return want == data
}

// selectsAlone reports whether a member of a filter has no content.
func selectsAlone(member any) bool {
	object, ok := member.(map[string]any)
	return member == nil || ok && len(object) == 0
}

// matchesEntry reports whether one of the entries of a list matches.
func matchesEntry(want, data any) bool {
	list, ok := data.([]any)
	if !ok {
		return matchesSubtree(want, data)
	}
	for _, one := range list {
		if matchesSubtree(want, one) {
			return true
		}
	}
	return false
}

// renew returns the context of a request that lasts with the roles that its user has now; false if it may not go on.
func (h *Handler) renew(ctx context.Context) (context.Context, bool) {
	if h.o.Renew == nil {
		return ctx, h.o.Still(ctx)
	}
	return h.o.Renew(ctx)
}
