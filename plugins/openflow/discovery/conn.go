package discovery

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
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

func (s *conn) datapathID() uint64 {
	return s.features.DatapathID
}

// port is a port of a switch.
type port struct {
	ofp13.Port
	epoch    uint64 // of being up; 0 = down
	sequence uint32 // of the newest frame
	stats    ofp13.PortStats
	measured time.Time // zero: no counters yet
}

// isPhysical reports whether frames may leave by the port.
func (p *port) isPhysical() bool {
	return p.Number > 0 && p.Number <= ofp13.PortMax
}

// Opened takes in a new connection.
func (c *Core) Opened(id ConnID, remote string, now time.Time) {
	s := &conn{
		id:      id,
		remote:  remote,
		opened:  now,
		heard:   now,
		ports:   map[uint32]*port{},
		updated: map[uint32]bool{},
	}
	c.conns[id] = s
	c.count.Connections++
	if c.leaving {
		c.closeConn(s, slog.LevelDebug, "the controller stops", now)
		return
	}
	c.sendMessage(s, 0, ofp13.Hello{Versions: 1 << ofp13.Version})
}

// Closed takes in that a connection has ended, and why.
func (c *Core) Closed(id ConnID, why string, now time.Time) {
	s, ok := c.conns[id]
	if !ok {
		return // it was ended from this side
	}
	c.logConn(s, slog.LevelInfo, "the connection has ended: "+why)
	c.forgetConn(s, now)
}

// forgetConn drops a connection with its switch, ports and links.
func (c *Core) forgetConn(s *conn, now time.Time) {
	delete(c.conns, s.id)
	if c.switches[s.datapathID()] == s && s.phase >= preparing {
		delete(c.switches, s.datapathID())
		for n := range s.ports {
			c.removePortLinks(PortID{s.datapathID(), n})
		}
		if s.phase == ready {
			delete(c.nodes, NodeID(s.datapathID()))
			c.dirty = true
		}
	}
	next, ok := c.conns[s.challenger]
	if ok && s.challenger != 0 {
		c.prepareSwitch(next, now)
	}
}

// receiveHello takes the first message, which must be a HELLO of a peer that speaks 1.3.
func (c *Core) receiveHello(s *conn, h ofp13.Header, m ofp13.Message, now time.Time) {
	hello, ok := m.(ofp13.Hello)
	switch {
	case h.Type == ofp13.TypeError:
		c.count.Refused++
		c.closeConn(
			s,
			slog.LevelWarn,
			"the switch ends the connection: it does not speak OpenFlow 1.3, or not with this controller",
			now,
		)
	case !ok:
		c.count.Refused++
		c.closeConn(
			s,
			slog.LevelWarn,
			fmt.Sprintf("its first message is of type %d, must be HELLO", h.Type),
			now,
		)
	case !hello.Speaks(h.Version):
		why := fmt.Sprintf(
			"OpenFlow 1.3 is required; the switch offers %s (Open vSwitch: ovs-vsctl set bridge NAME protocols=OpenFlow13)",
			offeredVersions(h.Version, hello),
		)
		c.count.Refused++
		c.out = append(c.out, Action{
			Conn:    s.id,
			XID:     h.XID,
			Version: min(max(h.Version, 1), ofp13.Version),
			Message: ofp13.Error{
				Kind: ofp13.ErrorHelloFailed,
				Code: ofp13.CodeIncompatible,
				Data: []byte(why),
			},
		})
		c.closeConn(s, slog.LevelWarn, why, now)
	default:
		s.phase = introducing
		c.sendMessage(s, xidFeatures, ofp13.FeaturesRequest{})
	}
}

// offeredVersions names the versions of a HELLO as people know them.
func offeredVersions(version uint8, h ofp13.Hello) string {
	names := map[int]string{
		1: "1.0",
		2: "1.1",
		3: "1.2",
		4: "1.3",
		5: "1.4",
		6: "1.5",
	}
	var list []string
	for v := 1; v < 32; v++ {
		if h.Versions&(1<<v) == 0 && (h.Versions != 0 || v != int(version)) {
			continue
		}
		list = append(list, cmp.Or(names[v], fmt.Sprintf("version number %d", v)))
	}
	return cmp.Or(strings.Join(list, ", "), "none that is known")
}

// receiveFeatures takes the datapath id. When another connection has it already, that one
// gets a moment to show that it lives: a switch that comes back after a break must
// not wait for the old connection to time out, and a second switch with the same
// datapath id must not take the place of the first.
func (c *Core) receiveFeatures(s *conn, f ofp13.FeaturesReply, now time.Time) {
	if s.phase != introducing {
		return
	}
	if f.Auxiliary != 0 {
		c.closeConn(
			s,
			slog.LevelWarn,
			"it is an auxiliary connection; only main connections are served",
			now,
		)
		return
	}
	s.features = f
	old := c.switches[f.DatapathID]
	switch {
	case old == nil:
		c.prepareSwitch(s, now)
	case old.challenger != 0:
		c.closeConn(s, slog.LevelWarn, c.duplicateDatapathText(old), now)
	default:
		s.phase = challenging
		old.challenger, old.challenged = s.id, now.Add(challengeTime)
		c.sendMessage(old, xidEcho, ofp13.EchoRequest{})
	}
}

// challengeTime is what a connection has to show that it lives.
const challengeTime = time.Second

func (c *Core) duplicateDatapathText(old *conn) string {
	return fmt.Sprintf(
		"%s is connected already, from %s: give each switch a datapath id of its own",
		NodeID(old.datapathID()),
		old.remote,
	)
}

// refuseChallenger: the older connection lives, so the newer is refused.
func (c *Core) refuseChallenger(old *conn, now time.Time) {
	newer, ok := c.conns[old.challenger]
	old.challenger = 0
	if ok {
		c.count.Refused++
		c.closeConn(newer, slog.LevelWarn, c.duplicateDatapathText(old), now)
	}
}

// prepareSwitch asks for all that is needed to use the switch, and installs the rules.
func (c *Core) prepareSwitch(s *conn, now time.Time) {
	s.phase = preparing
	c.switches[s.datapathID()] = s
	if c.acting {
		c.takeRole(s, now)
	}
	c.sendMessage(s, xidDescription, ofp13.MultipartRequest{Kind: ofp13.KindDescription})
	c.sendMessage(s, xidPorts, ofp13.MultipartRequest{Kind: ofp13.KindPorts})
	c.sendMessage(s, xidSetup, ofp13.BarrierRequest{})
}

// finishSetup makes the switch a node once its rules are in place and its ports known.
func (c *Core) finishSetup(s *conn, now time.Time) {
	if s.phase != preparing || !s.prepared || !s.listed {
		return
	}
	s.phase, s.since, s.counted, s.updated = ready, now, now, nil
	c.logConn(
		s,
		slog.LevelInfo,
		fmt.Sprintf("%s is connected, with %d ports", NodeID(s.datapathID()), len(s.ports)),
	)
	c.renderNode(s)
	for n, p := range s.ports {
		if p.Up() {
			c.raisePort(PortID{s.datapathID(), n}, p, now)
		}
	}
}
