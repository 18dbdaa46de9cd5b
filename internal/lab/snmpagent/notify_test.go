package snmpagent_test

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

var receiverID = []byte("receiver engine")

// receiver is the other side of notifications: an engine of its own that
// acknowledges informs.
type receiver struct {
	conn  *net.UDPConn
	agent *snmpagent.Agent
	keys  *snmpwire.Keys
}

func newReceiver(t *testing.T, user *snmpwire.User) *receiver {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	r := &receiver{conn: conn}
	r.agent = snmpagent.New(snmpagent.Config{MIB: newToy(1).mib(), Users: []*snmpwire.User{user}, EngineID: receiverID, Boots: 4})
	r.keys = user.Localize(receiverID)
	return r
}

func (r *receiver) addr() netip.AddrPort { return r.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

func (r *receiver) read(t *testing.T) ([]byte, netip.AddrPort) {
	t.Helper()
	buf := make([]byte, 4096)
	n, from, err := r.conn.ReadFromUDPAddrPort(buf)
	if err != nil {
		t.Fatalf("no notification: %v", err)
	}
	return buf[:n], from
}

func (r *receiver) write(t *testing.T, msg []byte, to netip.AddrPort) {
	t.Helper()
	if _, err := r.conn.WriteToUDPAddrPort(msg, to); err != nil {
		t.Error(err)
	}
}

func note() snmpagent.Notification {
	return snmpagent.Notification{Trap: snmpwire.MustOID("1.3.6.1.6.3.1.1.5.3"), Enterprise: snmpwire.MustOID("1.3.6.1.4.1.99999.1"),
		UpTime: 4711, VarBinds: []snmpwire.VarBind{bind("1.3.6.1.2.1.2.2.1.1.7", snmpwire.Int32(7))}}
}

func sender(t *testing.T) (*snmpagent.Server, *snmpwire.User) {
	t.Helper()
	user, err := snmpwire.NewUser("ops", gosnmp.SHA256, "authpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, snmpagent.Config{MIB: newToy(1).mib(), Users: []*snmpwire.User{user}, EngineID: []byte("sender engine")}), user
}

// What gosnmp reads from each kind of trap.
func TestTraps(t *testing.T) {
	s, user := sender(t)
	r := newReceiver(t, user)
	for name, c := range map[string]struct {
		to      snmpagent.Target
		version gosnmp.SnmpVersion
	}{
		"v1":  {snmpagent.Target{Version: snmpwire.Version1}, gosnmp.Version1},
		"v2c": {snmpagent.Target{Version: snmpwire.Version2c}, gosnmp.Version2c},
		"v3":  {snmpagent.Target{Version: snmpwire.Version3, User: user}, gosnmp.Version3},
	} {
		c.to.Addr, c.to.Community = r.addr(), "private"
		if err := s.Notify(context.Background(), c.to, note()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		msg, from := r.read(t)
		if from != s.Addr() {
			t.Errorf("%s: the trap comes from %s, the switch is %s", name, from, s.Addr())
		}
		g := &gosnmp.GoSNMP{Version: c.version, Community: "private"}
		if c.version == gosnmp.Version3 {
			asV3(g, user.Auth, user.Priv)
			g.SecurityParameters.(*gosnmp.UsmSecurityParameters).AuthoritativeEngineID = "sender engine"
		}
		p, err := g.UnmarshalTrap(msg, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		last := p.Variables[len(p.Variables)-1]
		if last.Name != ".1.3.6.1.2.1.2.2.1.1.7" || last.Value != 7 {
			t.Errorf("%s: last variable %+v", name, last)
		}
		if name == "v1" {
			if p.GenericTrap != 2 || p.Enterprise != ".1.3.6.1.4.1.99999.1" || p.AgentAddress != "127.0.0.1" || p.Timestamp != 4711 {
				t.Errorf("v1: %+v", p.SnmpTrap)
			}
		} else if p.Variables[1].Value != ".1.3.6.1.6.3.1.1.5.3" {
			t.Errorf("%s: snmpTrapOID is %v", name, p.Variables[1].Value)
		}
	}
}

func TestEnterpriseTrapV1(t *testing.T) {
	s, user := sender(t)
	r := newReceiver(t, user)
	n := note()
	n.Trap = snmpwire.MustOID("1.0.8802.1.1.2.0.0.1")
	if err := s.Notify(context.Background(), snmpagent.Target{Addr: r.addr(), Version: snmpwire.Version1, Community: "c"}, n); err != nil {
		t.Fatal(err)
	}
	msg, _ := r.read(t)
	p, err := (&gosnmp.GoSNMP{Version: gosnmp.Version1}).UnmarshalTrap(msg, false)
	if err != nil || p.GenericTrap != 6 || p.SpecificTrap != 1 || p.Enterprise != ".1.0.8802.1.1.2.0" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestInformV2c(t *testing.T) {
	s, user := sender(t)
	r := newReceiver(t, user)
	done := make(chan error, 1)
	go func() {
		done <- s.Notify(context.Background(), snmpagent.Target{Addr: r.addr(), Version: snmpwire.Version2c, Inform: true,
			Community: "private", Timeout: 50 * time.Millisecond, Retries: 100}, note())
	}()
	r.read(t) // the first is lost
	msg, from := r.read(t)
	m, err := snmpwire.DecodeCommunity(msg)
	if err != nil || m.PDU.Type != snmpwire.InformRequest {
		t.Fatalf("%+v, %v", m, err)
	}
	m.PDU.Type = snmpwire.Response
	r.write(t, snmpwire.EncodeCommunity(1, m.Community, m.PDU.Raw()), from)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestInformV3(t *testing.T) {
	s, user := sender(t)
	r := newReceiver(t, user)
	done := make(chan error, 1)
	go func() {
		done <- s.Notify(context.Background(), snmpagent.Target{Addr: r.addr(), Version: snmpwire.Version3, Inform: true,
			User: user, Timeout: 10 * time.Second}, note())
	}()
	discovery, from := r.read(t)
	r.write(t, r.agent.Handle(discovery), from)
	msg, _ := r.read(t)
	m, err := snmpwire.DecodeV3(msg, r.keys)
	if err != nil {
		t.Fatalf("the inform is not for this engine: %v", err)
	}
	at := m.USM()
	if m.PDU.Type != snmpwire.InformRequest || at.AuthoritativeEngineBoots != 4 {
		t.Errorf("inform %+v with boots %d", m.PDU, at.AuthoritativeEngineBoots)
	}
	m.PDU.Type, m.MsgFlags = snmpwire.Response, m.MsgFlags&^gosnmp.Reportable
	out, err := snmpwire.EncodeV3(*m.SnmpPacket, r.keys, 4, int(at.AuthoritativeEngineTime), m.PDU.Raw())
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, out, from)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestNotifyRefused(t *testing.T) {
	s, user := sender(t)
	r := newReceiver(t, user)
	ctx := context.Background()
	for name, to := range map[string]snmpagent.Target{
		"v3 without user":        {Addr: r.addr(), Version: snmpwire.Version3},
		"v3 inform without user": {Addr: r.addr(), Version: snmpwire.Version3, Inform: true},
		"no answer":              {Addr: r.addr(), Version: snmpwire.Version2c, Inform: true, Timeout: time.Millisecond, Retries: 1},
	} {
		if s.Notify(ctx, to, note()) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s.Agent().SetFaults(faults.Set{Silent: true})
	if err := s.Notify(ctx, snmpagent.Target{Addr: r.addr(), Version: snmpwire.Version3}, note()); err != nil {
		t.Errorf("a silent agent is not even asked: %v", err)
	}
}
