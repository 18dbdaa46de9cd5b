package discovery

import (
	"fmt"
	"log/slog"
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
)

// rolePause is the time between two requests for the role of a switch, when others take
// it away.
const rolePause = 10 * time.Second

// Act begins the time in which this process acts on the switches: it takes its role
// there, installs its rules and sends frames. The epoch grows with every process that
// does, on any node; as generation_id it lets switches refuse those before.
func (c *Core) Act(epoch uint64, now time.Time) {
	c.acting, c.generation = true, epoch
	for _, s := range c.conns {
		if s.phase >= preparing {
			s.prepared = false
			c.takeRole(s, now)
			c.sendMessage(s, xidSetup, ofp13.BarrierRequest{})
		}
		if s.phase == ready {
			for n, p := range s.ports {
				if p.Up() {
					c.raisePort(PortID{s.datapathID(), n}, p, now)
				}
			}
		}
	}
	c.dirty = true
	c.sendDueFrames(now)
}

// Rest ends that time. Connections stay, and nothing is sent on them that changes a
// switch; the links are another process's to find.
func (c *Core) Rest() {
	c.acting = false
	for _, l := range c.links {
		c.removeLink(l)
	}
	c.queues = queues{}
	c.dirty = true
}

// Acting reports whether this process acts on the switches.
func (c *Core) Acting() bool { return c.acting }

// takeRole asks for the role and installs the rules.
func (c *Core) takeRole(s *conn, now time.Time) {
	c.askRole(s, now)
	c.installRules(s)
}

// askRole asks for the role of the settings.
func (c *Core) askRole(s *conn, now time.Time) {
	s.roleAsked = now
	want := ofp13.RoleRequest{Role: c.o.Role}
	if c.o.Role == ofp13.RoleMaster {
		want.Generation = c.generation
	}
	c.sendMessage(s, xidRole, want)
}

func (c *Core) roleReply(s *conn, r ofp13.RoleReply) {
	if s.phase >= preparing {
		s.role = r.Role
	}
}

// roleRefused: another controller is master, with a newer generation.
func (c *Core) roleRefused(s *conn, e ofp13.Error) {
	if e.Kind == ofp13.ErrorRoleRequestFailed && e.Code == ofp13.CodeStale {
		c.reportProblem(s, fmt.Sprintf("it knows a newer generation than %d, this controller's, so it refuses the role of master: "+
			"another controller has it, or had it before this home was made; set role: equal, or restart the switch", c.generation))
		return
	}
	c.reportProblem(
		s,
		fmt.Sprintf(
			"it refuses the role that the settings ask for (error %d, code %d)",
			e.Kind,
			e.Code,
		),
	)
}

// handleDemotion: another controller became master, and this one may send nothing. The
// role is asked for again, but the two must not fight at full speed.
func (c *Core) handleDemotion(s *conn, now time.Time) {
	s.role = ofp13.RoleSlave
	if !c.acting || s.phase < preparing || now.Sub(s.roleAsked) < rolePause {
		return
	}
	c.logConn(
		s,
		slog.LevelWarn,
		NodeID(s.datapathID())+" has another master, which made this controller a slave; asking for the role again",
	)
	c.askRole(s, now)
}

// TableMiss says what a switch does with packets that no rule of table 0 wants.
type TableMiss string

// The kinds of table-miss rule. MissNone installs none: what a switch then does is
// its own affair (OpenFlow 1.3 says that it drops them).
const (
	MissNone       TableMiss = "none"
	MissDrop       TableMiss = "drop"
	MissNormal     TableMiss = "normal"
	MissController TableMiss = "controller"
)

// Cookie marks the rules of this plugin: "ctl-lldp". They are removed by it.
const Cookie uint64 = 0x63746c2d6c6c6470

const (
	puntPriority = 65535
	missBytes    = 128 // of a packet without a rule, sent to the controller
)

// installRules adds the rule that sends LLDP to the controller. Rules of an earlier run
// go first: its settings may have been others.
//
// The table-miss rule may be another controller's, which must stay. Adding one with
// OFPFF_CHECK_OVERLAP is not enough: Open vSwitch replaces a rule that is the same.
// So a probe goes first that differs from it and overlaps with it.
func (c *Core) installRules(s *conn) {
	c.sendMessage(s, 0, removal)
	eth := lldp.EtherType
	punt := ofp13.FlowMod{
		Cookie:   Cookie,
		Command:  ofp13.FlowAdd,
		Priority: puntPriority,
		Match:    ofp13.Match{EthType: &eth},
		Outputs: []ofp13.Output{{
			Port:   ofp13.PortController,
			MaxLen: ofp13.WholePacket,
		}},
	}
	c.sendMessage(s, xidPunt, punt)
	if c.o.TableMiss != MissNone {
		punt.Priority, punt.Flags = 0, ofp13.FlagCheckOverlap
		c.sendMessage(s, xidProbe, punt)
	}
}

var removal = ofp13.FlowMod{
	Cookie:     Cookie,
	CookieMask: ^uint64(0),
	Table:      ofp13.AllTables,
	Command:    ofp13.FlowDelete,
}

// installTableMiss replaces the probe by the table-miss rule, unless there is one.
func (c *Core) installTableMiss(s *conn) {
	if c.o.TableMiss == MissNone || s.missKept {
		return
	}
	eth := lldp.EtherType
	c.sendMessage(
		s,
		0,
		ofp13.FlowMod{
			Command:    ofp13.FlowDeleteStrict,
			Match:      ofp13.Match{EthType: &eth},
			Cookie:     Cookie,
			CookieMask: ^uint64(0),
		},
	)
	rule := ofp13.FlowMod{
		Cookie:  Cookie,
		Command: ofp13.FlowAdd,
	}
	switch c.o.TableMiss {
	case MissNormal:
		rule.Outputs = []ofp13.Output{{Port: ofp13.PortNormal}}
	case MissController:
		rule.Outputs = []ofp13.Output{{
			Port:   ofp13.PortController,
			MaxLen: missBytes,
		}}
	}
	c.sendMessage(s, xidMiss, rule)
}

// Leave removes the rules of all switches. Each connection is closed when its
// switch has done so; Left reports that none is left. Frames are no longer sent.
func (c *Core) Leave(now time.Time) {
	c.leaving = true
	for _, s := range c.conns {
		if s.phase < preparing || !c.acting {
			c.closeConn(s, slog.LevelDebug, "the controller stops", now)
			continue
		}
		c.sendMessage(s, 0, removal)
		c.sendMessage(s, xidFarewell, ofp13.BarrierRequest{})
	}
}

// Left reports how many connections still wait.
func (c *Core) Left() int { return len(c.conns) }
