package discovery

import (
	"fmt"
	"log/slog"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

// Received takes in a message.
func (c *Core) Received(id ConnID, h ofp13.Header, m ofp13.Message, now time.Time) {
	s, ok := c.conns[id]
	if !ok {
		return
	}
	s.heard = now
	if s.phase == greeting {
		c.receiveHello(s, h, m, now)
		return
	}
	if h.Version != ofp13.Version && h.Type != ofp13.TypeHello && h.Type != ofp13.TypeError {
		c.closeConn(
			s,
			slog.LevelWarn,
			fmt.Sprintf("it sent a message of version %d after 1.3 was agreed", h.Version),
			now,
		)
		return
	}
	if s.challenger != 0 {
		c.refuseChallenger(s, now)
	}
	switch m := m.(type) {
	case ofp13.EchoRequest:
		c.sendMessage(s, h.XID, ofp13.EchoReply(m))
	case ofp13.Error:
		c.receiveError(s, h.XID, m, now)
	case ofp13.FeaturesReply:
		c.receiveFeatures(s, m, now)
	case ofp13.MultipartReply:
		c.receiveMultipart(s, m, now)
	case ofp13.PortStatus:
		c.portStatus(s, m, now)
	case ofp13.PacketIn:
		c.packetIn(s, m, now)
	case ofp13.BarrierReply:
		c.receiveBarrier(s, h.XID, now)
	case ofp13.RoleReply:
		c.roleReply(s, m)
	}
	c.sendDueFrames(now)
}

func (c *Core) receiveMultipart(s *conn, m ofp13.MultipartReply, now time.Time) {
	if s.phase < preparing {
		return // no request is pending
	}
	switch m.Kind {
	case ofp13.KindDescription:
		s.description = m.Description
		if s.phase == ready {
			c.renderNode(s)
		}
	case ofp13.KindPorts:
		c.portList(s, m, now)
	case ofp13.KindPortStats:
		for _, st := range m.Stats {
			if p := s.ports[st.Number]; p != nil {
				p.stats, p.measured = st, now
			}
		}
	}
}

func (c *Core) receiveBarrier(s *conn, xid uint32, now time.Time) {
	switch {
	case xid == xidSetup && s.phase >= preparing && !s.prepared:
		s.prepared = true
		if c.acting {
			c.installTableMiss(s)
		}
		c.finishSetup(s, now)
	case xid == xidFarewell && c.leaving:
		c.closeConn(s, slog.LevelDebug, "the controller stops", now)
	}
}

// receiveError is the answer to something that was sent.
func (c *Core) receiveError(s *conn, xid uint32, e ofp13.Error, now time.Time) {
	c.count.Errors++
	switch {
	case e.Kind == ofp13.ErrorBadRequest && e.Code == ofp13.CodeIsSlave:
		c.handleDemotion(s, now)
	case xid == xidRole:
		c.roleRefused(s, e)
	case xid == xidProbe:
		s.missKept = true // an overlap, or no priority 0 to be had: what is there stays
	case xid == xidPunt:
		c.reportProblem(
			s,
			fmt.Sprintf(
				"it refuses the rule that sends LLDP to the controller (error %d, code %d), so links to it are not seen",
				e.Kind,
				e.Code,
			),
		)
	case xid == xidMiss:
		c.reportProblem(
			s,
			fmt.Sprintf("it refuses the table-miss rule (error %d, code %d)", e.Kind, e.Code),
		)
	case xid == xidPorts || xid == xidFeatures:
		c.closeConn(
			s,
			slog.LevelWarn,
			fmt.Sprintf("it does not list its ports (error %d, code %d)", e.Kind, e.Code),
			now,
		)
	default:
		c.logConn(
			s,
			slog.LevelDebug,
			fmt.Sprintf("error %d, code %d for transaction %d", e.Kind, e.Code, xid),
		)
	}
}

func (c *Core) reportProblem(s *conn, text string) {
	s.problem = text
	c.logConn(s, slog.LevelWarn, text)
}

// portList takes a part of the list of ports.
func (c *Core) portList(s *conn, m ofp13.MultipartReply, now time.Time) {
	if s.phase != preparing || s.listed {
		return
	}
	for _, p := range m.Ports {
		if s.updated[p.Number] {
			continue // a PORT_STATUS is newer
		}
		if !c.putPort(s, p, now) {
			return
		}
	}
	if !m.More {
		s.listed = true
		c.finishSetup(s, now)
	}
}

// putPort adds or changes a port; false when there are too many and the switch is gone.
func (c *Core) putPort(s *conn, p ofp13.Port, now time.Time) bool {
	if old := s.ports[p.Number]; old != nil {
		old.Port = p
		return true
	}
	if len(s.ports) >= c.o.MaxPorts {
		c.closeConn(
			s,
			slog.LevelWarn,
			fmt.Sprintf("it has more than %d ports (setting limits.ports)", c.o.MaxPorts),
			now,
		)
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
	id := PortID{s.datapathID(), m.Port.Number}
	if s.updated != nil && len(s.updated) < c.o.MaxPorts {
		s.updated[m.Port.Number] = true
	}
	if m.Reason == ofp13.PortDeleted {
		delete(s.ports, m.Port.Number)
		c.removePortLinks(id)
	} else if !c.putPort(s, m.Port, now) {
		return
	}
	if s.phase != ready {
		return
	}
	if p := s.ports[m.Port.Number]; p != nil {
		switch {
		case !p.Up():
			p.epoch = 0
			c.removePortLinks(id)
		case p.epoch == 0:
			c.raisePort(id, p, now)
		}
	}
	c.renderNode(s)
}

// raisePort begins the time in which a port is up: frames are sent at once, and again
// soon, because the other end may not be ready yet.
func (c *Core) raisePort(id PortID, p *port, now time.Time) {
	c.epoch++
	p.epoch, p.sequence = c.epoch, 0
	if p.isPhysical() && c.acting {
		c.queues.urgent.push(slot{id, p.epoch, now})
		c.queues.soon.push(slot{id, p.epoch, now.Add(soon)})
		c.queues.periodic.push(slot{id, p.epoch, now.Add(c.o.Interval)})
	}
}
