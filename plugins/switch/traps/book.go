package traps

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// The bounds of what is kept: traps that wait to be taken, and addresses that are not in
// the list.
const (
	maxWaiting = 1000
	maxUnknown = 64
)

// Counts tell what became of all messages.
type Counts struct {
	Received      uint64 `json:"received"`
	Traps         uint64 `json:"accepted"` // informs included
	Informs       uint64 `json:"informs-answered"`
	Asked         uint64 `json:"engine-questions-answered"`
	UnknownSource uint64 `json:"unknown-source"`
	NotAuthentic  uint64 `json:"not-authentic"`
	Replayed      uint64 `json:"replayed"`
	Malformed     uint64 `json:"malformed"`
	Lost          uint64 `json:"lost"` // before they were read: the system's buffer was full
}

// Stranger is an address that is not in the switch list but sent something.
type Stranger struct {
	Address netip.Addr `json:"address"`
	Count   uint64     `json:"count"`
	Last    time.Time  `json:"last"`
}

// Book counts what comes, and has the traps that were not taken yet. It is safe for
// concurrent use.
type Book struct {
	mu        sync.Mutex
	waiting   []Trap // the oldest first
	counts    Counts
	strangers map[netip.Addr]*Stranger
}

// NewBook makes an empty Book.
func NewBook() *Book { return &Book{strangers: map[netip.Addr]*Stranger{}} }

// Record counts a message; t is nil unless it was accepted.
func (b *Book) Record(now time.Time, from netip.AddrPort, v Verdict, t *Trap) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Received++
	switch v {
	case Accepted:
		b.counts.Traps++
		if t.Inform {
			b.counts.Informs++
		}
		if len(b.waiting) == maxWaiting { // in a storm the last count
			b.waiting = b.waiting[1:]
		}
		b.waiting = append(b.waiting, *t)
	case Asked:
		b.counts.Asked++
	case UnknownSource:
		b.counts.UnknownSource++
		b.stranger(now, from.Addr().Unmap())
	case NotAuthentic:
		b.counts.NotAuthentic++
	case Replayed:
		b.counts.Replayed++
	case Malformed:
		b.counts.Malformed++
	}
}

// Lost notes how many messages the system has thrown away since it listens.
func (b *Book) Lost(n uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Lost = uint64(n)
}

// stranger counts an address; the one heard of longest ago gives way to a new one.
func (b *Book) stranger(now time.Time, a netip.Addr) {
	s := b.strangers[a]
	if s == nil {
		if len(b.strangers) >= maxUnknown {
			b.dropOldest()
		}
		s = &Stranger{Address: a}
		b.strangers[a] = s
	}
	s.Count++
	s.Last = now
}

func (b *Book) dropOldest() {
	var oldest *Stranger
	for _, s := range b.strangers {
		if oldest == nil || s.Last.Before(oldest.Last) {
			oldest = s
		}
	}
	delete(b.strangers, oldest.Address)
}

// Take returns the traps that were not taken yet, the oldest first.
func (b *Book) Take() []Trap {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.waiting
	b.waiting = nil
	return out
}

// Counts returns the counters.
func (b *Book) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts
}

// Strangers returns the unknown addresses, those with most messages first.
func (b *Book) Strangers() []Stranger {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Stranger, 0, len(b.strangers))
	for _, s := range b.strangers {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(x, y Stranger) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), x.Address.Compare(y.Address))
	})
	return out
}
