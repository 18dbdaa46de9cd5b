// Package discovery decides: what switches are sent, which of them are there, and
// which links the LLDP frames prove. It does no input or output and knows no time
// but what it is given: events go in by the methods of Core, actions come out by
// Take, and View is the topology. A Core is for one goroutine; package service owns
// it, package channel carries its actions out.
package discovery

import (
	"fmt"
	"log/slog"
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/topology"
)

// Options are the settings of a Core.
type Options struct {
	TopologyID string
	Key        lldp.Key
	Interval   time.Duration // between LLDP frames of a port
	Expiry     time.Duration // a link without a frame for so long is gone
	Rate       int           // LLDP frames a second, of all ports together
	Echo       time.Duration // a silent switch is asked after this time
	Dead       time.Duration // and given up after this
	Handshake  time.Duration // within which a switch must be ready
	Statistics time.Duration // between questions for counters; 0 = never
	Role       uint32        // ofp13.RoleEqual or ofp13.RoleMaster
	TableMiss  TableMiss
	MaxPorts   int // of one switch
}

// ConnID names a connection; ids are never used twice.
type ConnID uint64

// Action is what the owner has to do, in order: send Message when there is one,
// log Text when there is one, then close the connection when Close is set.
type Action struct {
	Conn      ConnID
	Message   ofp13.Message
	XID       uint32
	Version   uint8 // of the header; 0 = 1.3
	Droppable bool  // may be left out when the switch does not take it
	Close     bool
	Level     slog.Level
	Text      string
	Remote    string // whom Text is about
}

// Core is the state of the discovery.
type Core struct {
	o          Options
	conns      map[ConnID]*conn
	switches   map[uint64]*conn    // those that sent their datapath id
	links      map[PortID]*link    // by source
	inbound    map[PortID][]PortID // sources of the links to a port
	nodes      map[string]topology.Node
	epoch      uint64
	xid        uint32
	queues     queues
	aged       time.Time
	leaving    bool
	acting     bool // this process acts on switches, all others only listen
	generation uint64
	dirty      bool
	out        []Action
	count      Counters
}

// New returns a Core that knows no switch.
func New(o Options) *Core {
	return &Core{
		o:        o,
		conns:    map[ConnID]*conn{},
		switches: map[uint64]*conn{},
		links:    map[PortID]*link{},
		inbound:  map[PortID][]PortID{},
		nodes:    map[string]topology.Node{},
		xid:      firstXID,
	}
}

// Take returns the actions that became due since the last call.
func (c *Core) Take() []Action {
	out := c.out
	c.out = nil
	return out
}

// Touch has the topology taken for another than before.
func (c *Core) Touch() { c.dirty = true }

// Changed reports, once, that the topology is another than before.
func (c *Core) Changed() bool {
	d := c.dirty
	c.dirty = false
	return d
}

// Transaction ids that say what an answer belongs to. Frames count on from firstXID.
const (
	xidFeatures = iota + 1
	xidRole
	xidPunt
	xidProbe
	xidMiss
	xidDescription
	xidPorts
	xidSetup
	xidEcho
	xidStatistics
	xidFarewell
	firstXID = 1 << 16
)

func (c *Core) sendMessage(to *conn, xid uint32, m ofp13.Message) {
	c.out = append(c.out, Action{
		Conn:    to.id,
		XID:     xid,
		Message: m,
	})
}

func (c *Core) logConn(about *conn, level slog.Level, text string) {
	c.out = append(c.out, Action{
		Conn:   about.id,
		Level:  level,
		Text:   text,
		Remote: about.remote,
	})
}

// closeConn ends a connection, logs why, and forgets all that came by it.
func (c *Core) closeConn(s *conn, level slog.Level, why string, now time.Time) {
	c.out = append(
		c.out,
		Action{
			Conn:   s.id,
			Close:  true,
			Level:  level,
			Text:   why,
			Remote: s.remote,
		},
	)
	c.forgetConn(s, now)
}

// Tick says that time has passed. It is called several times a second.
func (c *Core) Tick(now time.Time) {
	if c.leaving {
		return
	}
	for _, s := range c.conns {
		c.watchConn(s, now)
	}
	if now.Sub(c.aged) >= c.o.Interval/4 {
		c.aged = now
		c.expireLinks(now)
	}
	c.sendDueFrames(now)
}

// watchConn ends connections that are late or silent, and asks those that may be.
func (c *Core) watchConn(s *conn, now time.Time) {
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
		c.closeConn(
			s,
			slog.LevelWarn,
			fmt.Sprintf("it was not ready within %s of connecting", c.o.Handshake),
			now,
		)
	case s.challenger != 0 && now.After(s.challenged):
		c.closeConn(
			s,
			slog.LevelInfo,
			NodeID(s.datapathID())+" has connected again, and the old connection is silent",
			now,
		)
	case silent > c.o.Dead:
		c.count.Dead++
		c.closeConn(s, slog.LevelWarn, fmt.Sprintf("it has not answered for %s", c.o.Dead), now)
	case s.phase == ready:
		if silent >= c.o.Echo && now.Sub(s.asked) >= c.o.Echo {
			s.asked = now
			c.sendMessage(s, xidEcho, ofp13.EchoRequest{})
		}
		if c.o.Statistics > 0 && now.Sub(s.counted) >= c.o.Statistics {
			s.counted = now
			c.sendMessage(s, xidStatistics, ofp13.MultipartRequest{Kind: ofp13.KindPortStats})
		}
	}
}
