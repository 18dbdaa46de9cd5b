package discovery

import (
	"fmt"
	"time"

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
			c.take(s, now)
			c.send(s, xidSetup, ofp13.BarrierRequest{})
		}
		if s.phase == ready {
			for n, p := range s.ports {
				if p.Up() {
					c.raise(PortID{s.datapath(), n}, p, now)
				}
			}
		}
	}
	c.dirty = true
	c.emit(now)
}

// Rest ends that time. Connections stay, and nothing is sent on them that changes a
// switch; the links are another process's to find.
func (c *Core) Rest() {
	c.acting = false
	for _, l := range c.links {
		c.remove(l)
	}
	c.queues = queues{}
	c.dirty = true
}

// Acting reports whether this process acts on the switches.
func (c *Core) Acting() bool { return c.acting }

// take asks for the role and installs the rules.
func (c *Core) take(s *conn, now time.Time) {
	c.askRole(s, now)
	c.install(s)
}

// askRole asks for the role of the settings.
func (c *Core) askRole(s *conn, now time.Time) {
	s.roleAsked = now
	want := ofp13.RoleRequest{Role: c.o.Role}
	if c.o.Role == ofp13.RoleMaster {
		want.Generation = c.generation
	}
	c.send(s, xidRole, want)
}

func (c *Core) roleReply(s *conn, r ofp13.RoleReply) {
	if s.phase >= preparing {
		s.role = r.Role
	}
}

// roleRefused: another controller is master, with a newer generation.
func (c *Core) roleRefused(s *conn, e ofp13.Error) {
	if e.Kind == ofp13.ErrorRoleRequestFailed && e.Code == ofp13.CodeStale {
		c.complain(s, fmt.Sprintf("it knows a newer generation than %d, this controller's, so it refuses the role of master: "+
			"another controller has it, or had it before this home was made; set role: equal, or restart the switch", c.generation))
		return
	}
	c.complain(s, fmt.Sprintf("it refuses the role that the settings ask for (error %d, code %d)", e.Kind, e.Code))
}

// demoted: another controller became master, and this one may send nothing. The
// role is asked for again, but the two must not fight at full speed.
func (c *Core) demoted(s *conn, now time.Time) {
	s.role = ofp13.RoleSlave
	if !c.acting || s.phase < preparing || now.Sub(s.roleAsked) < rolePause {
		return
	}
	c.note(s, levelWarn, NodeID(s.datapath())+" has another master, which made this controller a slave; asking for the role again")
	c.askRole(s, now)
}
