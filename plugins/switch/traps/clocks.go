package traps

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"
)

// clock is the local notion of another engine's time (RFC 3414 section 2.3).
type clock struct {
	engine      string
	boots, time uint32
	at          time.Time // when time was reported

	// before is the clock that a proof has set back: the engine was restarted and did not count it. What was sent then
	// is not taken again.
	before *clock
}

// timeAt is what the engine's clock shows by now.
func (c *clock) timeAt(at time.Time) time.Duration {
	return time.Duration(c.time)*time.Second + at.Sub(c.at)
}

// isBehind reports whether a clock that was reported is older than this one, beyond the time window.
func (c *clock) isBehind(said clock) bool {
	return said.boots < c.boots ||
		said.boots == c.boots && time.Duration(said.time)*time.Second < c.timeAt(said.at)-timeWindow
}

// isAhead is the opposite of behind.
func (c *clock) isAhead(said clock) bool {
	return said.boots > c.boots ||
		said.boots == c.boots && time.Duration(said.time)*time.Second > c.timeAt(said.at)+timeWindow
}

// isFresh checks a message against what its engine reported before (RFC 3414 section 3.2, 7b).
func (c *clock) isFresh(said clock) bool {
	return !c.isBehind(said) && !(c.before != nil && c.isAhead(said) && !c.before.isAhead(said))
}

// Clocks are the times of engines that answers to our own requests have proved: an authenticated answer is no
// recording, even if it is of an earlier time than the engine reported before. It is safe for concurrent use.
type Clocks struct {
	mu     sync.Mutex
	proofs map[netip.Addr][]clock
}

// NewClocks makes Clocks.
func NewClocks() *Clocks {
	return &Clocks{proofs: map[netip.Addr][]clock{}}
}

// Prove notes what an engine reported in an authenticated answer.
func (c *Clocks) Prove(at time.Time, agent netip.Addr, engine string, boots, seconds uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	agent = agent.Unmap()
	c.proofs[agent] = noteClock(
		c.proofs[agent],
		clock{
			engine: engine,
			boots:  boots,
			time:   seconds,
			at:     at,
		},
	)
}

// noteClock replaces what is known of an engine; of too many the first goes.
func noteClock(known []clock, said clock) []clock {
	if i := slices.IndexFunc(known, func(c clock) bool {
		return c.engine == said.engine
	}); i >= 0 {
		known[i] = said
		return known
	}
	if len(known) == maxEngines {
		known = known[1:]
	}
	return append(slices.Clip(known), said)
}

// takeProofs returns what was proved of an address since it was asked last.
func (c *Clocks) takeProofs(agent netip.Addr) []clock {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	proved := c.proofs[agent]
	delete(c.proofs, agent)
	return proved
}

// keepAddresses forgets all but some addresses.
func (c *Clocks) keepAddresses(listed func(netip.Addr) bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for a := range c.proofs {
		if !listed(a) {
			delete(c.proofs, a)
		}
	}
}

// latestClock returns the one of two clocks, b may be nil, that shows more.
func latestClock(a, b *clock, at time.Time) *clock {
	if b != nil && (b.boots > a.boots || b.boots == a.boots && b.timeAt(at) > a.timeAt(at)) {
		return b
	}
	return &clock{
		engine: a.engine,
		boots:  a.boots,
		time:   a.time,
		at:     a.at,
	}
}

// applyProofs sets the clocks of an address to what was proved.
func (d *Decoder) applyProofs(from netip.Addr) {
	for _, proof := range d.proved.takeProofs(from) {
		known := d.clocks[from]
		i := slices.IndexFunc(known, func(c clock) bool {
			return c.engine == proof.engine
		})
		if i >= 0 {
			old := known[i]
			switch proof.before = old.before; {
			case proof.at.Before(old.at): // a trap came after it
				continue
			case old.isBehind(proof):
				proof.before = latestClock(&old, old.before, proof.at)
			case old.before != nil && !old.before.isBehind(proof): // it has caught up
				proof.before = nil
			}
		}
		d.clocks[from] = noteClock(known, proof)
	}
}

// isFreshMessage checks a message against what its engine reported before, and remembers what it reports now.
func (d *Decoder) isFreshMessage(
	now time.Time,
	from netip.Addr,
	sp *gosnmp.UsmSecurityParameters,
) bool {
	d.applyProofs(from)
	said := clock{
		engine: sp.AuthoritativeEngineID,
		boots:  sp.AuthoritativeEngineBoots,
		time:   sp.AuthoritativeEngineTime,
		at:     now,
	}
	known := d.clocks[from]
	i := slices.IndexFunc(known, func(c clock) bool { return c.engine == said.engine })
	if i < 0 {
		d.clocks[from] = noteClock(known, said)
		return true
	}
	c := &known[i]
	if !c.isFresh(said) {
		return false
	}
	if said.boots > c.boots || said.time > c.time {
		said.before = c.before
		*c = said
	}
	return true
}
