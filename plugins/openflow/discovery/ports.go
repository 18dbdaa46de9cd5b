package discovery

import (
	"fmt"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

// portList takes a part of the list of ports.
func (c *Core) portList(s *conn, m ofp13.MultipartReply, now time.Time) {
	if s.phase != preparing || s.listed {
		return
	}
	for _, p := range m.Ports {
		if s.updated[p.Number] {
			continue // a PORT_STATUS is newer
		}
		if !c.put(s, p, now) {
			return
		}
	}
	if !m.More {
		s.listed = true
		c.finish(s, now)
	}
}

// put adds or changes a port; false when there are too many and the switch is gone.
func (c *Core) put(s *conn, p ofp13.Port, now time.Time) bool {
	if old := s.ports[p.Number]; old != nil {
		old.Port = p
		return true
	}
	if len(s.ports) >= c.o.MaxPorts {
		c.close(s, levelWarn, fmt.Sprintf("it has more than %d ports (setting limits.ports)", c.o.MaxPorts), now)
		return false
	}
	s.ports[p.Number] = &port{Port: p}
	return true
}

// portStatus takes the change of a port: a link is gone at once when its port is.
func (c *Core) portStatus(s *conn, m ofp13.PortStatus, now time.Time) {
	if s.phase < preparing {
		return
	}
	c.count.PortStatus++
	id := PortID{s.datapath(), m.Port.Number}
	if s.updated != nil && len(s.updated) < c.o.MaxPorts {
		s.updated[m.Port.Number] = true
	}
	if m.Reason == ofp13.PortDeleted {
		delete(s.ports, m.Port.Number)
		c.cut(id)
	} else if !c.put(s, m.Port, now) {
		return
	}
	if s.phase != ready {
		return
	}
	if p := s.ports[m.Port.Number]; p != nil {
		switch {
		case !p.Up():
			p.epoch = 0
			c.cut(id)
		case p.epoch == 0:
			c.raise(id, p, now)
		}
	}
	c.render(s)
}

// raise begins the time in which a port is up: frames are sent at once, and again
// soon, because the other end may not be ready yet.
func (c *Core) raise(id PortID, p *port, now time.Time) {
	c.epoch++
	p.epoch, p.sequence = c.epoch, 0
	if p.physical() && c.acting {
		c.queues.urgent.push(slot{id, p.epoch, now})
		c.queues.soon.push(slot{id, p.epoch, now.Add(soon)})
		c.queues.periodic.push(slot{id, p.epoch, now.Add(c.o.Interval)})
	}
}
