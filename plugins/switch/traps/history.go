package traps

import (
	"cmp"
	"maps"
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

// Counts are the counters of all messages by result.
type Counts struct {
	Received      uint64 `json:"received"`
	Traps         uint64 `json:"accepted"` // informs included
	Informs       uint64 `json:"informs-answered"`
	Asked         uint64 `json:"engine-questions-answered"`
	UnknownSource uint64 `json:"unknown-source"`
	NotAuthentic  uint64 `json:"not-authentic"`
	Replayed      uint64 `json:"replayed"`
	Malformed     uint64 `json:"malformed"`
	Lost          uint64 `json:"lost"` // before they were decoded: the system's buffer, or the queue, was full
}

// UnknownSender is an address that is not in the switch list but sent something.
type UnknownSender struct {
	Address netip.Addr `json:"address"`
	Count   uint64     `json:"count"`
	Last    time.Time  `json:"last"`
}

// History counts what comes, and has the traps that were not taken yet. It is safe for
// concurrent use.
type History struct {
	mu      sync.Mutex
	waiting []Trap             // the oldest first
	of      map[netip.Addr]int // how many of them are of a sender
	counts  Counts
	dropped uint64 // before they were decoded
	system  uint64 // lost before they were read
	unknown map[netip.Addr]*UnknownSender
}

// NewHistory makes an empty History.
func NewHistory() *History {
	return &History{
		unknown: map[netip.Addr]*UnknownSender{},
		of:      map[netip.Addr]int{},
	}
}

// Record counts a message; t is nil unless it was accepted.
func (h *History) Record(now time.Time, from netip.AddrPort, v Verdict, t *Trap) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.counts
	c.Received++
	*[...]*uint64{
		Accepted:      &c.Traps,
		Asked:         &c.Asked,
		UnknownSource: &c.UnknownSource,
		NotAuthentic:  &c.NotAuthentic,
		Replayed:      &c.Replayed,
		Malformed:     &c.Malformed,
	}[v]++
	switch v {
	case Accepted:
		if t.Inform {
			c.Informs++
		}
		if len(h.waiting) == maxWaiting { // in a storm the last count
			h.giveWay()
		}
		h.waiting = append(h.waiting, *t)
		h.of[t.From.Addr()]++
	case UnknownSource:
		h.countUnknown(now, from.Addr().Unmap())
	}
}

// giveWay drops the oldest trap of the sender with the most. h.mu is held.
func (h *History) giveWay() {
	most := h.waiting[0].From.Addr()
	for a, n := range h.of {
		if n > h.of[most] {
			most = a
		}
	}
	i := slices.IndexFunc(h.waiting, func(t Trap) bool { return t.From.Addr() == most })
	h.waiting = slices.Delete(h.waiting, i, i+1)
	h.of[most]--
}

// Lost notes how many messages the system has thrown away since it listens.
func (h *History) Lost(n uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.system = uint64(n)
}

// noteDropped notes a message that was thrown away before it was decoded.
func (h *History) noteDropped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropped++
}

// countUnknown counts an address. The one that sent longest ago gives way to a new one.
func (h *History) countUnknown(now time.Time, a netip.Addr) {
	s := h.unknown[a]
	if s == nil {
		if len(h.unknown) >= maxUnknown {
			oldest := slices.MinFunc(slices.Collect(maps.Values(h.unknown)), func(x, y *UnknownSender) int {
				return x.Last.Compare(y.Last)
			})
			delete(h.unknown, oldest.Address)
		}
		s = &UnknownSender{Address: a}
		h.unknown[a] = s
	}
	s.Count++
	s.Last = now
}

// Take returns the traps that were not taken yet, the oldest first.
func (h *History) Take() []Trap {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.waiting
	h.waiting = nil
	clear(h.of)
	return out
}

// Counts returns the counters.
func (h *History) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.counts
	c.Lost = h.system + h.dropped
	return c
}

// Unknown returns the unknown addresses, those with most messages first.
func (h *History) Unknown() []UnknownSender {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]UnknownSender, 0, len(h.unknown))
	for _, s := range h.unknown {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(x, y UnknownSender) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), x.Address.Compare(y.Address))
	})
	return out
}
