package discovery

import (
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
)

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

type queue struct {
	slots []slot
	head  int
}

func (q *queue) push(s slot) { q.slots = append(q.slots, s) }

// pop takes the first turn that is due.
func (q *queue) pop(now time.Time) (slot, bool) {
	if q.head == len(q.slots) || q.slots[q.head].due.After(now) {
		return slot{}, false
	}
	s := q.slots[q.head]
	q.head++
	if q.head > 64 && q.head*2 > len(q.slots) {
		q.slots = append([]slot(nil), q.slots[q.head:]...)
		q.head = 0
	}
	return s, true
}

// emit sends the frames that are due, no more than the rate allows.
func (c *Core) emit(now time.Time) {
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
		if c.frame(s) {
			q.credit--
			if again {
				q.periodic.push(slot{s.port, s.epoch, now.Add(c.o.Interval)})
			}
		}
	}
}

// frame sends the frame of a turn, if the port is still the same.
func (c *Core) frame(t slot) bool {
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
	c.out = append(c.out, Action{Conn: s.id, XID: c.xid, Droppable: true, Message: ofp13.PacketOut{
		InPort: ofp13.PortController, Outputs: []ofp13.Output{{Port: p.Number}},
		Data: c.o.Key.Frame(lldp.Origin{Datapath: t.port.Datapath, Port: p.Number, Epoch: p.epoch, Sequence: p.sequence},
			lldp.Header{Source: p.Address, System: NodeID(t.port.Datapath), TTL: c.o.Expiry}),
	}})
	return true
}
