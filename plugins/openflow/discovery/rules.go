package discovery

import (
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
)

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

// install adds the rule that sends LLDP to the controller. Rules of an earlier run
// go first: its settings may have been others.
//
// The table-miss rule may be another controller's, which must stay. Adding one with
// OFPFF_CHECK_OVERLAP is not enough: Open vSwitch replaces a rule that is the same.
// So a probe goes first that differs from it and overlaps with it.
func (c *Core) install(s *conn) {
	c.send(s, 0, removal)
	eth := lldp.EtherType
	punt := ofp13.FlowMod{Cookie: Cookie, Command: ofp13.FlowAdd, Priority: puntPriority,
		Match: ofp13.Match{EthType: &eth}, Outputs: []ofp13.Output{{Port: ofp13.PortController, MaxLen: ofp13.WholePacket}}}
	c.send(s, xidPunt, punt)
	if c.o.TableMiss != MissNone {
		punt.Priority, punt.Flags = 0, ofp13.FlagCheckOverlap
		c.send(s, xidProbe, punt)
	}
}

var removal = ofp13.FlowMod{Cookie: Cookie, CookieMask: ^uint64(0), Table: ofp13.AllTables, Command: ofp13.FlowDelete}

// miss replaces the probe by the table-miss rule, unless there is one.
func (c *Core) miss(s *conn) {
	if c.o.TableMiss == MissNone || s.missKept {
		return
	}
	eth := lldp.EtherType
	c.send(s, 0, ofp13.FlowMod{Command: ofp13.FlowDeleteStrict, Match: ofp13.Match{EthType: &eth}, Cookie: Cookie, CookieMask: ^uint64(0)})
	rule := ofp13.FlowMod{Cookie: Cookie, Command: ofp13.FlowAdd}
	switch c.o.TableMiss {
	case MissNormal:
		rule.Outputs = []ofp13.Output{{Port: ofp13.PortNormal}}
	case MissController:
		rule.Outputs = []ofp13.Output{{Port: ofp13.PortController, MaxLen: missBytes}}
	}
	c.send(s, xidMiss, rule)
}

// Leave removes the rules of all switches. Each connection is closed when its
// switch has done so; Left reports that none is left. Frames are no longer sent.
func (c *Core) Leave(now time.Time) {
	c.leaving = true
	for _, s := range c.conns {
		if s.phase < preparing || !c.acting {
			c.close(s, levelDebug, "the controller stops", now)
			continue
		}
		c.send(s, 0, removal)
		c.send(s, xidFarewell, ofp13.BarrierRequest{})
	}
}

// Left reports how many connections still wait.
func (c *Core) Left() int { return len(c.conns) }
