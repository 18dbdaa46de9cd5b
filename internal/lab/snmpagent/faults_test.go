package snmpagent_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// faulty makes an agent of 30 rows with a fault.
func faulty(t *testing.T, text string) (*toy, *snmpagent.Agent) {
	t.Helper()
	f, err := faults.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, a := toyAgent(30)
	a.SetFaults(f)
	return d, a
}

func raw(p snmpwire.PDU) []byte {
	p.RequestID = 42
	return snmpwire.EncodeCommunity(1, "private", p.Raw())
}

func TestSilence(t *testing.T) {
	bulk := raw(snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 3, VarBinds: null(row + "1")})
	for _, f := range []string{"silent", "loss=100", "nobulk"} {
		if _, a := faulty(t, f); a.Handle(bulk) != nil {
			t.Errorf("%s: there is an answer", f)
		}
	}
	_, a := faulty(t, "loss=50")
	answered := 0
	for range 1000 {
		if a.Handle(bulk) != nil {
			answered++
		}
	}
	if answered < 400 || answered > 600 {
		t.Errorf("loss=50: %d of 1000 requests are answered", answered)
	}
}

func TestWrongAnswers(t *testing.T) {
	get := snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(row+"1.1", row+"3.1", row+"1.2")}
	next := snmpwire.PDU{Type: snmpwire.GetNextRequest, VarBinds: null(row + "1.1")}
	last := snmpwire.PDU{Type: snmpwire.GetNextRequest, VarBinds: null(row + "1.30")}
	for _, c := range []struct {
		fault string
		pdu   snmpwire.PDU
		check func(m *snmpwire.Message) bool
	}{
		{"wrongid", get, func(m *snmpwire.Message) bool { return m.PDU.RequestID != 42 }},
		{"toobig=2", get, func(m *snmpwire.Message) bool { return m.PDU.Status == snmpwire.TooBig }},
		{"toobig=3", get, func(m *snmpwire.Message) bool { return m.PDU.Status == snmpwire.NoError }},
		{"status=genErr", get, func(m *snmpwire.Message) bool { return m.PDU.Status == snmpwire.GenErr }},
		{"wrongtype", get, func(m *snmpwire.Message) bool {
			return m.PDU.VarBinds[0].Value.Tag == snmpwire.OctetString && m.PDU.VarBinds[1].Value.Tag == snmpwire.Integer
		}},
		{"loop", next, func(m *snmpwire.Message) bool { return m.PDU.VarBinds[0].Name.String() == row+"1.1" }},
		{"back,within=" + row + "1", last, func(m *snmpwire.Message) bool { return m.PDU.VarBinds[0].Name.String() == row+"1.1" }},
		{"wrongtype,within=" + row + "3", get, func(m *snmpwire.Message) bool {
			return m.PDU.VarBinds[0].Value.Tag == snmpwire.Integer && m.PDU.VarBinds[1].Value.Tag == snmpwire.Integer
		}},
		{"missing=" + row + "1", get, func(m *snmpwire.Message) bool { return m.PDU.VarBinds[0].Value.Tag == snmpwire.NoSuchObject }},
		{"missing=" + row + "2+" + row + "1", next, func(m *snmpwire.Message) bool { return m.PDU.VarBinds[0].Name.String() == row+"3.1" }},
		{"missing=1.3", next, func(m *snmpwire.Message) bool { return m.PDU.VarBinds[0].Value.Tag == snmpwire.EndOfMibView }},
	} {
		_, a := faulty(t, c.fault)
		m, err := snmpwire.DecodeCommunity(a.Handle(raw(c.pdu)))
		if err != nil || !c.check(m) {
			t.Errorf("%s: answer %+v, %v", c.fault, m, err)
		}
	}
}

func TestBrokenAnswers(t *testing.T) {
	bulk := raw(snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 5, VarBinds: null(row + "1")})
	for _, f := range []string{"truncate", "garbage"} {
		_, a := faulty(t, f)
		if _, err := snmpwire.DecodeCommunity(a.Handle(bulk)); err == nil {
			t.Errorf("%s: the answer parses", f)
		}
	}
	_, a := faulty(t, "huge")
	great := raw(snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 5000, VarBinds: null(row + "3")})
	if n := len(a.Handle(great)); n < 50000 || n > 65507 {
		t.Errorf("huge: the answer has %d octets", n)
	}
}

func TestSetFaults(t *testing.T) {
	set := raw(snmpwire.PDU{Type: snmpwire.SetRequest, VarBinds: []snmpwire.VarBind{bind(row+"1.1", snmpwire.Int32(5))}})
	for _, c := range []struct {
		fault  string
		value  int64
		answer string
	}{
		{"none", 5, "noError"}, {"setstatus=commitFailed", 0, "commitFailed"}, {"setignore", 0, "noError"}, {"setmute", 5, "none"},
		{"missing=" + row + "1", 0, "notWritable"},
	} {
		d, a := faulty(t, c.fault)
		got := "none"
		if out := a.Handle(set); out != nil {
			m, err := snmpwire.DecodeCommunity(out)
			if err != nil {
				t.Fatal(err)
			}
			got = m.PDU.Status.String()
		}
		if got != c.answer || d.numbers[0] != c.value {
			t.Errorf("%s: answer %s and value %d, want %s and %d", c.fault, got, d.numbers[0], c.answer, c.value)
		}
	}
}

// The faults of the socket: a client sees two answers, or a late one.
func TestDuplicateAndDelay(t *testing.T) {
	s := serve(t, snmpagent.Config{MIB: newToy(1).mib(), ReadCommunity: "private"})
	s.Agent().SetFaults(faults.Set{Duplicate: true, Delay: time.Millisecond})
	c, err := net.Dial("udp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(raw(snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(row + "1.1")})); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 2000)
	for i := range 2 {
		if _, err := c.Read(buf); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
}

// An answer that waits does not hold up the end.
func TestCloseWhileDelayed(t *testing.T) {
	s := serve(t, snmpagent.Config{MIB: newToy(1).mib(), ReadCommunity: "private"})
	s.Agent().SetFaults(faults.Set{Delay: time.Hour})
	g := client(t, s, func(g *gosnmp.GoSNMP) { g.Timeout = 100 * time.Millisecond })
	_, err := g.Get([]string{row + "1.1"})
	if err == nil || !strings.Contains(err.Error(), "timeout") && !errors.Is(err, net.ErrClosed) {
		t.Errorf("an answer came before its delay: %v", err)
	}
}
