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

// now is what the engine's clock shows by now.
func (c *clock) now(at time.Time) time.Duration {
	return time.Duration(c.time)*time.Second + at.Sub(c.at)
}

// behind reports whether a clock that was reported is older than this one, beyond the time window.
func (c *clock) behind(said clock) bool {
	return said.boots < c.boots || said.boots == c.boots && time.Duration(said.time)*time.Second < c.now(said.at)-timeWindow
}

// ahead is the opposite of behind.
func (c *clock) ahead(said clock) bool {
	return said.boots > c.boots || said.boots == c.boots && time.Duration(said.time)*time.Second > c.now(said.at)+timeWindow
}

// fresh checks a message against what its engine reported before (RFC 3414 section 3.2, 7b).
func (c *clock) fresh(said clock) bool {
	return !c.behind(said) && !(c.before != nil && c.ahead(said) && !c.before.ahead(said))
}

// Clocks are the times of engines that answers to our own requests have proved: an authenticated answer is no
// recording, even if it is of an earlier time than the engine reported before. It is safe for concurrent use.
type Clocks struct {
	mu     sync.Mutex
	proofs map[netip.Addr][]clock
}

// NewClocks makes Clocks.
func NewClocks() *Clocks { return &Clocks{proofs: map[netip.Addr][]clock{}} }

// Prove notes what an engine reported in an authenticated answer.
func (c *Clocks) Prove(at time.Time, agent netip.Addr, engine string, boots, seconds uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	agent = agent.Unmap()
	c.proofs[agent] = note(c.proofs[agent], clock{engine: engine, boots: boots, time: seconds, at: at})
}

// note replaces what is known of an engine; of too many the first goes.
func note(known []clock, said clock) []clock {
	if i := slices.IndexFunc(known, func(c clock) bool { return c.engine == said.engine }); i >= 0 {
		known[i] = said
		return known
	}
	if len(known) == maxEngines {
		known = known[1:]
	}
	return append(slices.Clip(known), said)
}

// take returns what was proved of an address since it was asked last.
func (c *Clocks) take(agent netip.Addr) []clock {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	proved := c.proofs[agent]
	delete(c.proofs, agent)
	return proved
}

// keep forgets all but some addresses.
func (c *Clocks) keep(listed func(netip.Addr) bool) {
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

// latest returns the one of two clocks, b may be nil, that shows more.
func latest(a, b *clock, at time.Time) *clock {
	if b != nil && (b.boots > a.boots || b.boots == a.boots && b.now(at) > a.now(at)) {
		return b
	}
	return &clock{engine: a.engine, boots: a.boots, time: a.time, at: a.at}
}

// prove sets the clocks of an address to what was proved.
func (d *Decoder) prove(from netip.Addr) {
	for _, proof := range d.proved.take(from) {
		known := d.clocks[from]
		if i := slices.IndexFunc(known, func(c clock) bool { return c.engine == proof.engine }); i >= 0 {
			old := known[i]
			switch proof.before = old.before; {
			case proof.at.Before(old.at): // a trap came after it
				continue
			case old.behind(proof):
				proof.before = latest(&old, old.before, proof.at)
			case old.before != nil && !old.before.behind(proof): // it has caught up
				proof.before = nil
			}
		}
		d.clocks[from] = note(known, proof)
	}
}

// fresh checks a message against what its engine reported before, and remembers what it reports now.
func (d *Decoder) fresh(now time.Time, from netip.Addr, sp *gosnmp.UsmSecurityParameters) bool {
	d.prove(from)
	said := clock{engine: sp.AuthoritativeEngineID, boots: sp.AuthoritativeEngineBoots, time: sp.AuthoritativeEngineTime, at: now}
	known := d.clocks[from]
	i := slices.IndexFunc(known, func(c clock) bool { return c.engine == said.engine })
	if i < 0 {
		d.clocks[from] = note(known, said)
		return true
	}
	c := &known[i]
	if !c.fresh(said) {
		return false
	}
	if said.boots > c.boots || said.time > c.time {
		said.before = c.before
		*c = said
	}
	return true
}
