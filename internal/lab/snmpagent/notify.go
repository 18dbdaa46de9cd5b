package snmpagent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpwire"
)

// Notification is a trap without its transport form.
type Notification struct {
	Trap       snmpwire.OID // the value of snmpTrapOID.0
	Enterprise snmpwire.OID // sysObjectID, for version 1
	UpTime     uint32       // sysUpTime, hundredths of a second
	VarBinds   []snmpwire.VarBind
}

// Target is who gets notifications, and how.
type Target struct {
	Addr      netip.AddrPort
	Version   int  // snmpwire.Version1, Version2c or Version3
	Inform    bool // versions 2c and 3: wait for the answer
	Community string
	User      *snmpwire.User // version 3
	Timeout   time.Duration  // of one try of an inform; 0 means 1 s
	Retries   int            // of an inform
}

// Notify sends a notification from the agent's own address. With an inform it
// waits for the answer; a silent agent sends nothing and returns no error.
func (s *Server) Notify(ctx context.Context, to Target, n Notification) error {
	if s.agent.Faults().Silent {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.host.ctx, cancel)()
	g := &gosnmp.GoSNMP{
		Target:    to.Addr.Addr().String(),
		Port:      to.Addr.Port(),
		Version:   gosnmp.SnmpVersion(to.Version),
		Community: to.Community,
		Timeout:   cmp.Or(to.Timeout, time.Second),
		Retries:   to.Retries,
		Context:   ctx,
	}
	if to.Version == snmpwire.Version3 {
		if to.User == nil {
			return fmt.Errorf("trap to %s: version 3 needs a user", to.Addr)
		}
		engine := s.agent.cfg.EngineID
		g.SecurityModel, g.MsgFlags, g.ContextEngineID = gosnmp.UserSecurityModel, to.User.Level(), string(engine)
		if to.Inform {
			engine = nil // the receiver is the authority, who is asked
		}
		boots, now := s.agent.engineTime()
		keys := to.User.Localize(engine)
		keys.AuthoritativeEngineBoots, keys.AuthoritativeEngineTime = uint32(boots), uint32(now)
		g.SecurityParameters = keys
	}
	if err := g.Connect(); err != nil {
		return fmt.Errorf("trap to %s: %w", to.Addr, err)
	}
	defer g.Conn.Close()
	answers := make(chan []byte, 8)
	s.agent.pending.Store(answers, nil)
	defer s.agent.pending.Delete(answers)
	g.Conn = &ownSocket{
		Conn:    g.Conn,
		server:  s,
		to:      to.Addr,
		answers: answers,
		ended:   ctx.Done(),
	}
	trap, err := s.newTrap(to, n)
	if err == nil {
		_, err = g.SendTrap(trap)
	}
	if err != nil {
		return fmt.Errorf("trap to %s: %w", to.Addr, err)
	}
	return nil
}

// ownSocket is a connection of gosnmp that sends from the agent's socket, by whose address receivers know a
// switch. Answers come by way of the agent.
type ownSocket struct {
	net.Conn
	server   *Server
	to       netip.AddrPort
	answers  <-chan []byte
	ended    <-chan struct{}
	deadline time.Time
}

func (c *ownSocket) Write(b []byte) (int, error) {
	return c.server.conn.WriteToUDPAddrPort(b, c.to)
}

func (c *ownSocket) SetDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

func (c *ownSocket) Read(b []byte) (int, error) {
	t := time.NewTimer(time.Until(c.deadline))
	defer t.Stop()
	select {
	case m := <-c.answers:
		return copy(b, m), nil
	case <-t.C:
		return 0, os.ErrDeadlineExceeded
	case <-c.ended:
		return 0, net.ErrClosed
	}
}

// deliverInformResponse hands a message to the informs that wait for one; false: none does.
func (a *Agent) deliverInformResponse(msg []byte) (waits bool) {
	a.pending.Range(func(answers, _ any) bool {
		select {
		case answers.(chan []byte) <- bytes.Clone(msg):
		default: // too many duplicates
		}
		waits = true
		return true
	})
	return waits
}

// The first variable bindings of a version 2 notification, and the prefix of
// the six standard traps (RFC 3418).
const (
	sysUpTime    = "1.3.6.1.2.1.1.3.0"
	snmpTrapOID  = "1.3.6.1.6.3.1.1.4.1.0"
	snmpTraps    = "1.3.6.1.6.3.1.1.5"
	enterpriseID = 6 // the generic number of a trap that is not standard
)

// newTrap is a notification in the form of gosnmp; of version 1 it is RFC 3584 section 3.2.
func (s *Server) newTrap(to Target, n Notification) (t gosnmp.SnmpTrap, err error) {
	t.IsInform = to.Inform
	if to.Version != snmpwire.Version1 {
		t.Variables, err = snmpwire.Variables(append([]snmpwire.VarBind{
			{
				Name:  snmpwire.MustOID(sysUpTime),
				Value: snmpwire.Unsigned(snmpwire.TimeTicks, uint64(n.UpTime)),
			},
			{
				Name:  snmpwire.MustOID(snmpTrapOID),
				Value: snmpwire.Object(n.Trap),
			},
		}, n.VarBinds...))
		return t, err
	}
	t.Variables, err = snmpwire.Variables(n.VarBinds)
	t.AgentAddress, t.Timestamp = s.addr.Addr().String(), uint(n.UpTime)
	last := len(n.Trap) - 1
	if n.Trap.HasPrefix(snmpwire.MustOID(snmpTraps)) {
		t.Enterprise, t.GenericTrap = n.Enterprise.String(), int(n.Trap[last])-1
		return t, err
	}
	t.GenericTrap, t.SpecificTrap = enterpriseID, int(n.Trap[last])
	if last > 1 && n.Trap[last-1] == 0 {
		last--
	}
	t.Enterprise = n.Trap[:last].String()
	return t, err
}
