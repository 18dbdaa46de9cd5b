package discovery

import (
	"context"
	"maps"
	"slices"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// Hint says what changed at a switch, as a trap of it reported.
type Hint struct {
	Node mib.MAC
	// IfIndex is the interface a link trap is about; 0 = none.
	IfIndex uint32
	// Neighbors must be read again even if the switch says that none has changed.
	Neighbors bool
	// Polled: no trap arrived, but reading the counters showed that the ports changed.
	Polled bool
	// Repeat: neighbours appear some time after a link came up or the switch
	// restarted, so it is read several times.
	Repeat bool
}

// The pace of reading again because of traps.
const (
	debounce = 200 * time.Millisecond // from the first trap, so that those after it need no reading of their own
	calm     = time.Second            // between two readings of one switch, however many traps come
	maxLinks = 64                     // interfaces remembered for one reading
)

// retries is when a switch is read again after a link came up: LLDP neighbours
// show after up to 30 s, the default interval of its frames.
var retries = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// due is a switch that will be read again. There is at most one for each switch of
// the list, whatever number of traps asked for it.
type due struct {
	at        time.Time
	neighbors bool
	retry     int      // index in retries; len(retries): no more
	links     []uint32 // that came up and have no neighbour yet
	all       bool     // the whole switch is awaited, not only links
	trapped   bool     // a trap came
}

// Touch causes a switch of the list to be read again soon. It never waits, and any number of
// calls for one switch is one reading. On a link's change the switch at its other
// end is read too.
func (s *Surveyor) Touch(h Hint) {
	if _, err := s.opt.Inventory.Find(h.Node); err != nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scheduleReread(h, now)
	if peer := s.peerOf(h.Node, h.IfIndex); peer != 0 {
		s.scheduleReread(Hint{
			Node:   peer,
			Polled: h.Polled,
		}, now)
	}
	together.Notify(s.touched)
}

// scheduleReread records that a switch is to be read. s.mu is held.
func (s *Surveyor) scheduleReread(h Hint, now time.Time) {
	d := s.dues[h.Node]
	soon := now.Add(debounce)
	last, ok := s.reread[h.Node]
	if ok && last.Add(calm).After(soon) {
		soon = last.Add(calm)
	}
	if d == nil {
		d = &due{at: soon, retry: len(retries)}
		s.dues[h.Node] = d
	} else if soon.Before(d.at) {
		d.at = soon
	}
	d.neighbors = d.neighbors || h.Neighbors
	d.trapped = d.trapped || !h.Polled
	if !h.Repeat {
		return
	}
	d.retry = 0
	switch {
	case h.IfIndex == 0 || len(d.links) == maxLinks:
		d.all = true
	case !slices.Contains(d.links, h.IfIndex):
		d.links = append(d.links, h.IfIndex)
	}
}

// peerOf is the switch of the list at the other end of an interface, 0 for none.
func (s *Surveyor) peerOf(m mib.MAC, ifIndex uint32) mib.MAC {
	o := s.observed[m]
	if o == nil || s.net == nil || ifIndex == 0 {
		return 0
	}
	i := slices.IndexFunc(o.Ports, func(p Port) bool { return p.IfIndex == ifIndex })
	if i < 0 {
		return 0
	}
	return s.net.Peer(NodeID(m), o.Ports[i].ID)
}

// runRereads reads what is due until the surveyor is closed.
func (s *Surveyor) runRereads() {
	for s.ctx.Err() == nil {
		batch, wait := s.takeDue(time.Now())
		if len(batch) > 0 {
			s.readAgain(batch)
			continue
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-s.touched:
		case <-timer:
		case <-s.ctx.Done():
		}
	}
}

// takeDue returns what is due now, or how long to wait for the next; 0 = nothing is due at all.
func (s *Surveyor) takeDue(now time.Time) (map[mib.MAC]*due, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := map[mib.MAC]*due{}
	var next time.Time
	for m, d := range s.dues {
		switch {
		case !d.at.After(now):
			batch[m] = d
			delete(s.dues, m)
		case next.IsZero() || d.at.Before(next):
			next = d.at
		}
	}
	if len(batch) > 0 || next.IsZero() {
		return batch, 0
	}
	return nil, next.Sub(now)
}

// readAgain reads the switches of a batch and publishes what they report.
func (s *Surveyor) readAgain(batch map[mib.MAC]*due) {
	var switches []*switchdriver.Switch
	for m := range batch {
		if sw, err := s.opt.Inventory.Find(m); err == nil {
			switches = append(switches, sw)
		}
	}
	r := &run{scope: All, started: time.Now(), cause: Polled}
	for _, d := range batch {
		if d.trapped {
			r.cause = Trap
		}
	}
	answers := s.askSwitches(switches, func(ctx context.Context, sw *switchdriver.Switch) (*Observation, error) {
		return s.refreshSwitch(ctx, sw, batch[mib.MAC(sw.NodeId)].neighbors)
	})
	for range switches {
		s.takeAnswer(r, <-answers)
	}
	if s.ctx.Err() != nil {
		return
	}
	s.publishNetwork(r)
	s.retryLater(batch)
}

// retryLater schedules the next reading of switches whose neighbours are awaited.
func (s *Surveyor) retryLater(batch map[mib.MAC]*due) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for m, d := range batch {
		s.reread[m] = now
		if d.retry >= len(retries) || !s.awaitsNeighbors(m, d) {
			continue
		}
		next := now.Add(retries[d.retry])
		later := s.dues[m]
		if later == nil {
			later = &due{
				at:      next,
				retry:   d.retry + 1,
				trapped: d.trapped,
			}
			s.dues[m] = later
		} else if later.retry == len(retries) {
			later.retry = d.retry + 1
		}
		later.all = later.all || d.all
		for _, l := range d.links {
			if !slices.Contains(later.links, l) && len(later.links) < maxLinks {
				later.links = append(later.links, l)
			}
		}
	}
	maps.DeleteFunc(s.reread, func(m mib.MAC, last time.Time) bool {
		return s.dues[m] == nil && now.Sub(last) > calm
	})
}

// awaitsNeighbors reports whether neighbours may still show.
func (s *Surveyor) awaitsNeighbors(m mib.MAC, d *due) bool {
	o := s.observed[m]
	if o == nil || o.Stale || d.all {
		return true
	}
	return slices.ContainsFunc(d.links, func(ifIndex uint32) bool {
		return !hasNeighbor(o, ifIndex)
	})
}

func hasNeighbor(o *Observation, ifIndex uint32) bool {
	i := slices.IndexFunc(o.Ports, func(p Port) bool { return p.IfIndex == ifIndex })
	return i >= 0 &&
		slices.ContainsFunc(o.Neighbors, func(n Neighbor) bool {
			return n.LocalPort == o.Ports[i].ID
		})
}

// refreshSwitch reads what has changed at a switch, or everything if that is not possible.
func (s *Surveyor) refreshSwitch(
	ctx context.Context,
	sw *switchdriver.Switch,
	neighbors bool,
) (*Observation, error) {
	old := s.Observation(mib.MAC(sw.NodeId))
	if s.opt.Refresh == nil || old == nil || old.Stale || !old.BySNMP() {
		return s.opt.Observe(ctx, sw)
	}
	return s.opt.Refresh(ctx, sw, old, neighbors)
}
