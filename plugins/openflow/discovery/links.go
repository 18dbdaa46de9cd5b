package discovery

import (
	"errors"
	"slices"
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
)

// link is one direction of a cable.
type link struct {
	from, to PortID
	since    time.Time
	seen     time.Time // newest frame
}

// window is how many of a port's newest frames are believed: those under way.
const window = 4

// packetIn takes a frame that a switch received. It proves a link only if this
// controller made it, for a port that has been up ever since, a moment ago.
func (c *Core) packetIn(s *conn, m ofp13.PacketIn, now time.Time) {
	c.count.PacketIns++
	if !c.acting || s.phase != ready || m.Match.InPort == nil {
		return
	}
	origin, err := c.o.Key.Open(m.Data)
	switch {
	case errors.Is(err, lldp.ErrNotLLDP):
		return
	case errors.Is(err, lldp.ErrForeign):
		c.count.Foreign++
		return
	case errors.Is(err, lldp.ErrForged):
		c.count.Forged++
		return
	case err != nil:
		c.count.Malformed++
		return
	}
	from := PortID{origin.Datapath, origin.Port}
	to := PortID{s.datapathID(), *m.Match.InPort}
	if from == to || !c.isCurrentFrame(from, origin) || !c.isUsablePort(to) {
		c.count.Stale++
		return
	}
	c.count.FramesReceived++
	c.learnLink(from, to, now)
}

// isCurrentFrame reports whether the frame is one of the newest of a port that is up.
func (c *Core) isCurrentFrame(from PortID, o lldp.Origin) bool {
	s := c.switches[from.Datapath]
	if s == nil || s.phase != ready {
		return false
	}
	p := s.ports[from.Number]
	return p != nil &&
		p.epoch != 0 &&
		p.epoch == o.Epoch &&
		o.Sequence <= p.sequence &&
		p.sequence-o.Sequence < window
}

func (c *Core) isUsablePort(to PortID) bool {
	p := c.switches[to.Datapath].ports[to.Number]
	return p != nil && p.epoch != 0 && p.isPhysical()
}

// learnLink notes a link. Frames of one port that arrive at several (a hub in between)
// make the link to the first of them, as long as it goes on hearing.
func (c *Core) learnLink(from, to PortID, now time.Time) {
	if l := c.links[from]; l != nil {
		if l.to == to {
			l.seen = now
			return
		}
		if now.Sub(l.seen) < c.o.Interval*3/2 {
			c.count.Ambiguous++
			return
		}
		c.removeLink(l)
	}
	c.links[from] = &link{
		from:  from,
		to:    to,
		since: now,
		seen:  now,
	}
	c.inbound[to] = append(c.inbound[to], from)
	c.count.LinksFound++
	c.dirty = true
	if back := c.links[to]; back == nil {
		p := c.switches[to.Datapath].ports[to.Number]
		c.queues.urgent.push(slot{to, p.epoch, now}) // the other direction need not wait for its turn
	}
}

func (c *Core) removeLink(l *link) {
	delete(c.links, l.from)
	rest := slices.DeleteFunc(c.inbound[l.to], func(p PortID) bool { return p == l.from })
	if len(rest) == 0 {
		delete(c.inbound, l.to)
	} else {
		c.inbound[l.to] = rest
	}
	c.count.LinksLost++
	c.dirty = true
}

// removePortLinks removes the links from and to a port.
func (c *Core) removePortLinks(id PortID) {
	if l := c.links[id]; l != nil {
		c.removeLink(l)
	}
	for _, from := range slices.Clone(c.inbound[id]) {
		c.removeLink(c.links[from])
	}
}

// expireLinks removes links that no frame has confirmed for too long.
func (c *Core) expireLinks(now time.Time) {
	for _, l := range c.links {
		if now.Sub(l.seen) > c.o.Expiry {
			c.removeLink(l)
		}
	}
}

// soon is when a port that came up sends again.
const soon = time.Second

// slot is a port whose turn to send a frame comes.
type slot struct {
	port  PortID
	epoch uint64 // another one since: the turn is void
	due   time.Time
}

// queues hold the turns. All turns of one queue wait equally long, so each is in
// the order of the time due and needs no sorting.
type queues struct {
	urgent, soon, periodic queue
	credit                 float64 // frames that may be sent now
	counted                time.Time
}

type queue []slot

func (q *queue) push(s slot) { *q = append(*q, s) }

// pop takes the first turn that is due. What is before the rest goes when push needs room.
func (q *queue) pop(now time.Time) (slot, bool) {
	if len(*q) == 0 || (*q)[0].due.After(now) {
		return slot{}, false
	}
	s := (*q)[0]
	*q = (*q)[1:]
	return s, true
}

// sendDueFrames sends the frames that are due, no more than the rate allows.
func (c *Core) sendDueFrames(now time.Time) {
	q := &c.queues
	rate := float64(c.o.Rate)
	if q.counted.IsZero() {
		q.credit = rate / 10
	} else {
		q.credit = min(q.credit+now.Sub(q.counted).Seconds()*rate, max(rate/10, 1))
	}
	q.counted = now
	for q.credit >= 1 && c.acting && !c.leaving {
		s, ok := q.urgent.pop(now)
		if !ok {
			if s, ok = q.soon.pop(now); ok && c.links[s.port] != nil {
				continue // its link is known: it can wait for its turn
			}
		}
		again := false
		if !ok {
			s, ok = q.periodic.pop(now)
			again = ok
		}
		if !ok {
			return
		}
		if c.sendFrame(s) {
			q.credit--
			if again {
				q.periodic.push(slot{s.port, s.epoch, now.Add(c.o.Interval)})
			}
		}
	}
}

// sendFrame sends the frame of a turn, if the port is still the same.
func (c *Core) sendFrame(t slot) bool {
	s := c.switches[t.port.Datapath]
	if s == nil || s.phase != ready {
		return false
	}
	p := s.ports[t.port.Number]
	if p == nil || p.epoch != t.epoch {
		return false
	}
	p.sequence++
	c.xid = max(c.xid+1, firstXID)
	c.count.FramesSent++
	c.out = append(c.out, Action{
		Conn:      s.id,
		XID:       c.xid,
		Droppable: true,
		Message: ofp13.PacketOut{
			InPort:  ofp13.PortController,
			Outputs: []ofp13.Output{{Port: p.Number}},
			Data: c.o.Key.Frame(lldp.Origin{
				Datapath: t.port.Datapath,
				Port:     p.Number,
				Epoch:    p.epoch,
				Sequence: p.sequence,
			},
				lldp.Header{
					Source: p.Address,
					System: NodeID(t.port.Datapath),
					TTL:    c.o.Expiry,
				}),
		},
	})
	return true
}
