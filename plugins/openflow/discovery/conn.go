package discovery

import (
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

type phase int

const (
	greeting    phase = iota // its HELLO is awaited
	introducing              // its features are awaited
	challenging              // another connection has the same datapath id
	preparing                // its rules and ports are on the way
	ready
)

// conn is a connection and its switch.
type conn struct {
	id     ConnID
	remote string
	phase  phase
	opened time.Time
	heard  time.Time // newest message
	asked  time.Time // newest ECHO_REQUEST
	// challenger has the same datapath id; this one has until challenged to show
	// that it lives.
	challenger ConnID
	challenged time.Time

	features    ofp13.FeaturesReply
	description ofp13.Description
	role        uint32
	roleAsked   time.Time
	problem     string // what it refused
	ports       map[uint32]*port
	updated     map[uint32]bool // ports of which a PORT_STATUS came before the list of ports was complete
	missKept    bool            // another controller's table-miss rule is there
	listed      bool            // the list of ports is complete
	prepared    bool            // its rules are in place
	counted     time.Time       // newest question for counters
	since       time.Time       // ready
}

func (s *conn) datapath() uint64 { return s.features.DatapathID }

// port is a port of a switch.
type port struct {
	ofp13.Port
	epoch    uint64 // of being up; 0 = down
	sequence uint32 // of the newest frame
	stats    ofp13.PortStats
	measured time.Time // zero: no counters yet
}

const localPort = ofp13.PortLocal

// physical reports whether frames may leave by the port.
func (p *port) physical() bool { return p.Number > 0 && p.Number <= ofp13.PortMax }

// Opened takes in a new connection.
func (c *Core) Opened(id ConnID, remote string, now time.Time) {
	s := &conn{id: id, remote: remote, opened: now, heard: now, ports: map[uint32]*port{}, updated: map[uint32]bool{}}
	c.conns[id] = s
	c.count.Connections++
	if c.leaving {
		c.close(s, levelDebug, "the controller stops", now)
		return
	}
	c.send(s, 0, ofp13.Hello{Versions: 1 << ofp13.Version})
}

// Closed takes in that a connection has ended, and why.
func (c *Core) Closed(id ConnID, why string, now time.Time) {
	s, ok := c.conns[id]
	if !ok {
		return // it was ended from this side
	}
	c.note(s, levelInfo, "the connection has ended: "+why)
	c.forget(s, now)
}

// forget drops a connection with its switch, ports and links.
func (c *Core) forget(s *conn, now time.Time) {
	delete(c.conns, s.id)
	if c.switches[s.datapath()] == s && s.phase >= preparing {
		delete(c.switches, s.datapath())
		for n := range s.ports {
			c.cut(PortID{s.datapath(), n})
		}
		if s.phase == ready {
			delete(c.nodes, NodeID(s.datapath()))
			c.dirty = true
		}
	}
	if next, ok := c.conns[s.challenger]; ok && s.challenger != 0 {
		c.prepare(next, now)
	}
}
