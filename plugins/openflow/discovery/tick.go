package discovery

import (
	"fmt"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

// Tick says that time has passed. It is called several times a second.
func (c *Core) Tick(now time.Time) {
	if c.leaving {
		return
	}
	for _, s := range c.conns {
		c.watch(s, now)
	}
	if now.Sub(c.aged) >= c.o.Interval/4 {
		c.aged = now
		c.age(now)
	}
	c.emit(now)
}

// watch ends connections that are late or silent, and asks those that may be.
func (c *Core) watch(s *conn, now time.Time) {
	if c.conns[s.id] != s {
		return // ended while the others were watched
	}
	if c.conns[s.challenger] == nil {
		s.challenger = 0
	}
	silent := now.Sub(s.heard)
	switch {
	case s.phase < ready && now.Sub(s.opened) > c.o.Handshake:
		c.count.Refused++
		c.close(s, levelWarn, fmt.Sprintf("it was not ready within %s of connecting", c.o.Handshake), now)
	case s.challenger != 0 && now.After(s.challenged):
		c.close(s, levelInfo, NodeID(s.datapath())+" has connected again, and the old connection is silent", now)
	case silent > c.o.Dead:
		c.count.Dead++
		c.close(s, levelWarn, fmt.Sprintf("it has not answered for %s", c.o.Dead), now)
	case s.phase == ready:
		if silent >= c.o.Echo && now.Sub(s.asked) >= c.o.Echo {
			s.asked = now
			c.send(s, xidEcho, ofp13.EchoRequest{})
		}
		if c.o.Statistics > 0 && now.Sub(s.counted) >= c.o.Statistics {
			s.counted = now
			c.send(s, xidStatistics, ofp13.MultipartRequest{Kind: ofp13.KindPortStats})
		}
	}
}
