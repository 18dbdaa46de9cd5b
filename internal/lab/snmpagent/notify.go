package snmpagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
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

// errNoAnswer says that no try of an inform was answered.
var errNoAnswer = errors.New("the inform was not answered")

// pendingKey keeps the numbers of versions 2c and 3 apart.
type pendingKey struct {
	v3 bool
	id uint32
}

// deliver hands a message to the inform that waits for it.
func (a *Agent) deliver(key pendingKey, msg []byte) bool {
	c, ok := a.pending.Load(key)
	if !ok {
		return false
	}
	select {
	case c.(chan []byte) <- bytes.Clone(msg):
	default: // a duplicate
	}
	return true
}

// Notify sends a notification from the agent's own address. With an inform it
// waits for the answer; a silent agent sends nothing and returns no error.
func (s *Server) Notify(ctx context.Context, to Target, n Notification) error {
	if s.agent.Faults().Silent {
		return nil
	}
	switch {
	case to.Version == snmpwire.Version1:
		return s.write(to, snmpwire.EncodeTrapV1(to.Community, s.trapV1(n)))
	case to.Version == snmpwire.Version3 && to.User == nil:
		return fmt.Errorf("trap to %s: version 3 needs a user", to.Addr)
	case to.Version == snmpwire.Version3 && to.Inform:
		return s.informV3(ctx, to, n)
	case to.Version == snmpwire.Version3: // this engine is the authority
		boots, now := s.agent.engineTime()
		id := s.agent.cfg.EngineID
		head := gosnmp.SnmpPacket{MsgID: newID(), MsgFlags: to.User.Level(), ContextEngineID: string(id)}
		out, err := snmpwire.EncodeV3(head, to.User.Localize(id), boots, now, n.pdu(snmpwire.TrapV2, newID()))
		if err != nil {
			return err
		}
		return s.write(to, out)
	case to.Inform:
		id := newID()
		msg := snmpwire.EncodeCommunity(snmpwire.Version2c, to.Community, n.pdu(snmpwire.InformRequest, id))
		_, err := s.ask(ctx, to, pendingKey{false, id}, msg)
		return err
	}
	return s.write(to, snmpwire.EncodeCommunity(snmpwire.Version2c, to.Community, n.pdu(snmpwire.TrapV2, newID())))
}

// informV3 asks the receiver, who is the authority, for its engine id and
// time, then sends (RFC 3414 section 4).
func (s *Server) informV3(ctx context.Context, to Target, n Notification) error {
	keys := &snmpwire.Keys{}
	peer := keys
	for step := 0; step < 3; step++ {
		head := gosnmp.SnmpPacket{MsgID: newID(), MsgFlags: gosnmp.Reportable, ContextEngineID: string(s.agent.cfg.EngineID)}
		pdu := snmpwire.PDU{Type: snmpwire.GetRequest, RequestID: int32(newID())}.Raw()
		if step > 0 {
			head.MsgFlags |= to.User.Level()
			pdu = n.pdu(snmpwire.InformRequest, newID())
		}
		msg, err := snmpwire.EncodeV3(head, keys, int(peer.AuthoritativeEngineBoots), int(peer.AuthoritativeEngineTime), pdu)
		if err != nil {
			return err
		}
		in, err := s.ask(ctx, to, pendingKey{true, head.MsgID}, msg)
		if err != nil {
			return err
		}
		got, err := snmpwire.DecodeV3(in, nil)
		if errors.Is(err, snmpwire.ErrSealed) && step > 0 {
			got, err = snmpwire.DecodeV3(in, keys)
		}
		if err != nil {
			return fmt.Errorf("inform to %s: %w", to.Addr, err)
		}
		if got.PDU.Type == snmpwire.Response {
			return nil
		}
		if peer = got.USM(); peer.AuthoritativeEngineID != keys.AuthoritativeEngineID {
			keys = to.User.Localize([]byte(peer.AuthoritativeEngineID))
		}
	}
	return fmt.Errorf("inform to %s: the receiver answers with reports only", to.Addr)
}

func newID() uint32 { return rand.Uint32() >> 1 }

func (s *Server) write(to Target, msg []byte) error {
	if _, err := s.conn.WriteToUDPAddrPort(msg, to.Addr); err != nil {
		return fmt.Errorf("trap to %s: %w", to.Addr, err)
	}
	return nil
}

// ask sends until there is an answer.
func (s *Server) ask(ctx context.Context, to Target, key pendingKey, msg []byte) ([]byte, error) {
	c := make(chan []byte, 1)
	s.agent.pending.Store(key, c)
	defer s.agent.pending.Delete(key)
	timeout := to.Timeout
	if timeout == 0 {
		timeout = time.Second
	}
	for try := 0; try <= to.Retries; try++ {
		if err := s.write(to, msg); err != nil {
			return nil, err
		}
		t := time.NewTimer(timeout)
		select {
		case got := <-c:
			t.Stop()
			return got, nil
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-s.host.ctx.Done():
			t.Stop()
			return nil, s.host.ctx.Err()
		}
	}
	return nil, fmt.Errorf("inform to %s: %w", to.Addr, errNoAnswer)
}

// The first variable bindings of a version 2 notification, and the prefix of
// the six standard traps (RFC 3418).
const (
	sysUpTime    = "1.3.6.1.2.1.1.3.0"
	snmpTrapOID  = "1.3.6.1.6.3.1.1.4.1.0"
	snmpTraps    = "1.3.6.1.6.3.1.1.5"
	enterpriseID = 6 // the generic number of a trap that is not standard
)

func (n Notification) pdu(kind snmpwire.Tag, id uint32) snmpwire.RawPDU {
	list := append([]snmpwire.VarBind{
		{Name: snmpwire.MustOID(sysUpTime), Value: snmpwire.Unsigned(snmpwire.TimeTicks, uint64(n.UpTime))},
		{Name: snmpwire.MustOID(snmpTrapOID), Value: snmpwire.Object(n.Trap)},
	}, n.VarBinds...)
	return snmpwire.PDU{Type: kind, RequestID: int32(id), VarBinds: list}.Raw()
}

// trapV1 is RFC 3584 section 3.2.
func (s *Server) trapV1(n Notification) snmpwire.Trap {
	t := snmpwire.Trap{Enterprise: n.Enterprise, Time: n.UpTime, VarBinds: n.VarBinds, Generic: enterpriseID}
	if ip := s.addr.Addr(); ip.Is4() {
		t.Agent = ip.As4()
	}
	last := len(n.Trap) - 1
	if n.Trap.HasPrefix(snmpwire.MustOID(snmpTraps)) {
		t.Generic = int(n.Trap[last]) - 1
		return t
	}
	t.Enterprise, t.Specific = n.Trap[:last], int(n.Trap[last])
	if last > 1 && n.Trap[last-1] == 0 {
		t.Enterprise = n.Trap[:last-1]
	}
	return t
}
