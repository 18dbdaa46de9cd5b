package discovery

import (
	"fmt"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

const (
	roleTries = 4                // elections of a master that may go wrong
	rolePause = 10 * time.Second // between questions, when others take the role away
)

// askRole asks for the role of the settings. A master must tell a generation that
// is newer than the switch's, so that one is asked for first.
func (c *Core) askRole(s *conn, now time.Time) {
	s.roleAsked = now
	want := ofp13.RoleRequest{Role: ofp13.RoleEqual}
	if c.o.Role == ofp13.RoleMaster {
		want.Role = ofp13.RoleNoChange
	}
	c.send(s, xidRole, want)
}

func (c *Core) roleReply(s *conn, r ofp13.RoleReply, now time.Time) {
	if s.phase < preparing {
		return
	}
	s.role = r.Role
	if c.o.Role == ofp13.RoleMaster && r.Role != ofp13.RoleMaster && s.roleTries < roleTries {
		s.roleTries++
		s.roleAsked = now
		c.send(s, xidRole, ofp13.RoleRequest{Role: ofp13.RoleMaster, Generation: r.Generation + 1})
		return
	}
	if s.role == c.o.Role {
		s.roleTries = 0
	}
}

// roleRefused: another controller was elected between question and request.
func (c *Core) roleRefused(s *conn, e ofp13.Error, now time.Time) {
	if e.Kind == ofp13.ErrorRoleRequestFailed && e.Code == ofp13.CodeStale && s.roleTries < roleTries {
		c.askRole(s, now)
		return
	}
	c.complain(s, fmt.Sprintf("it refuses the role that the settings ask for (error %d, code %d)", e.Kind, e.Code))
}

// demoted: another controller became master, and this one may send nothing. The
// role is asked for again, but the two must not fight at full speed.
func (c *Core) demoted(s *conn, now time.Time) {
	s.role = ofp13.RoleSlave
	if s.phase < preparing || now.Sub(s.roleAsked) < rolePause {
		return
	}
	s.roleTries = 0
	c.note(s, levelWarn, NodeID(s.datapath())+" has another master, which made this controller a slave; asking for the role again")
	c.askRole(s, now)
}
