package discovery

import (
	"fmt"
	"log/slog"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

const (
	levelDebug = slog.LevelDebug
	levelInfo  = slog.LevelInfo
	levelWarn  = slog.LevelWarn
)

// Received takes in a message.
func (c *Core) Received(id ConnID, h ofp13.Header, m ofp13.Message, now time.Time) {
	s, ok := c.conns[id]
	if !ok {
		return
	}
	s.heard = now
	if s.phase == greeting {
		c.greet(s, h, m, now)
		return
	}
	if h.Version != ofp13.Version && h.Type != ofp13.TypeHello && h.Type != ofp13.TypeError {
		c.close(s, levelWarn, fmt.Sprintf("it sent a message of version %d after 1.3 was agreed", h.Version), now)
		return
	}
	if s.challenger != 0 {
		c.survive(s, now)
	}
	switch m := m.(type) {
	case ofp13.EchoRequest:
		c.send(s, h.XID, ofp13.EchoReply(m))
	case ofp13.Error:
		c.failed(s, h.XID, m, now)
	case ofp13.FeaturesReply:
		c.introduce(s, m, now)
	case ofp13.MultipartReply:
		c.multipart(s, m, now)
	case ofp13.PortStatus:
		c.portStatus(s, m, now)
	case ofp13.PacketIn:
		c.packetIn(s, m, now)
	case ofp13.BarrierReply:
		c.barrier(s, h.XID, now)
	case ofp13.RoleReply:
		c.roleReply(s, m)
	}
	c.emit(now)
}

func (c *Core) multipart(s *conn, m ofp13.MultipartReply, now time.Time) {
	if s.phase < preparing {
		return // no request is pending
	}
	switch m.Kind {
	case ofp13.KindDescription:
		s.description = m.Description
		if s.phase == ready {
			c.render(s)
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

func (c *Core) barrier(s *conn, xid uint32, now time.Time) {
	switch {
	case xid == xidSetup && s.phase >= preparing && !s.prepared:
		s.prepared = true
		if c.acting {
			c.miss(s)
		}
		c.finish(s, now)
	case xid == xidFarewell && c.leaving:
		c.close(s, levelDebug, "the controller stops", now)
	}
}

// failed is the answer to something that was sent.
func (c *Core) failed(s *conn, xid uint32, e ofp13.Error, now time.Time) {
	c.count.Errors++
	switch {
	case e.Kind == ofp13.ErrorBadRequest && e.Code == ofp13.CodeIsSlave:
		c.demoted(s, now)
	case xid == xidRole:
		c.roleRefused(s, e)
	case xid == xidProbe:
		s.missKept = true // an overlap, or no priority 0 to be had: what is there stays
	case xid == xidPunt:
		c.complain(s, fmt.Sprintf("it refuses the rule that sends LLDP to the controller (error %d, code %d), so links to it are not seen", e.Kind, e.Code))
	case xid == xidMiss:
		c.complain(s, fmt.Sprintf("it refuses the table-miss rule (error %d, code %d)", e.Kind, e.Code))
	case xid == xidPorts || xid == xidFeatures:
		c.close(s, levelWarn, fmt.Sprintf("it does not list its ports (error %d, code %d)", e.Kind, e.Code), now)
	default:
		c.note(s, levelDebug, fmt.Sprintf("error %d, code %d for transaction %d", e.Kind, e.Code, xid))
	}
}

func (c *Core) complain(s *conn, text string) {
	s.problem = text
	c.note(s, levelWarn, text)
}
