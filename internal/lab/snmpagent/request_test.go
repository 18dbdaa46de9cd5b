package snmpagent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

const row = "1.3.6.1.9.1."

// ask sends one PDU through the core, without a socket.
func ask(t *testing.T, a *snmpagent.Agent, version int, community string, p snmpwire.PDU) *snmpwire.PDU {
	t.Helper()
	p.RequestID = 42
	out := a.Handle(snmpwire.EncodeCommunity(version, community, p.Raw()))
	if out == nil {
		return nil
	}
	m, err := snmpwire.DecodeCommunity(out)
	if err != nil {
		t.Fatalf("the answer does not parse: %v", err)
	}
	if m.PDU.Type != snmpwire.Response || m.PDU.RequestID != 42 {
		t.Fatalf("the answer is %#x with request-id %d", byte(m.PDU.Type), m.PDU.RequestID)
	}
	return &m.PDU
}

func names(list []snmpwire.VarBind) []string {
	var out []string
	for _, vb := range list {
		out = append(out, vb.Name.String()+"="+vb.Value.String())
	}
	return out
}

func bind(name string, v snmpwire.Value) snmpwire.VarBind {
	return snmpwire.VarBind{Name: snmpwire.MustOID(name), Value: v}
}

func null(list ...string) []snmpwire.VarBind {
	var out []snmpwire.VarBind
	for _, n := range list {
		out = append(out, bind(n, snmpwire.Value{Tag: snmpwire.Null}))
	}
	return out
}

func toyAgent(n int) (*toy, *snmpagent.Agent) {
	d := newToy(n)
	return d, snmpagent.New(snmpagent.Config{MIB: d.mib(), ReadCommunity: "public", WriteCommunity: "private"})
}

func TestReads(t *testing.T) {
	_, a := toyAgent(2)
	for name, c := range map[string]struct {
		version int
		pdu     snmpwire.PDU
		status  snmpwire.Status
		place   int
		want    []string
	}{
		"get": {1, snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(row+"1.1", row+"1.9", row+"7.1", "1.3")}, 0, 0,
			[]string{row + "1.1=0x2:0", row + "1.9=noSuchInstance", row + "7.1=noSuchObject", "1.3=noSuchObject"}},
		"get, version 1": {0, snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(row+"1.1", row+"1.9")}, snmpwire.NoSuchName, 2,
			[]string{row + "1.1=null", row + "1.9=null"}},
		"counter64, version 1": {0, snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(row + "2.1")}, snmpwire.NoSuchName, 1,
			[]string{row + "2.1=null"}},
		"next of two": {1, snmpwire.PDU{Type: snmpwire.GetNextRequest, VarBinds: null("1.3", row+"1.2", row+"3.2")}, 0, 0,
			[]string{row + "1.1=0x2:0", row + "2.1=0x46:0", row + "3.2=endOfMibView"}},
		"next, version 1, skips counter64": {0, snmpwire.PDU{Type: snmpwire.GetNextRequest, VarBinds: null(row + "2")}, 0, 0,
			[]string{row + "3.1=0x4:" + zeros(200)}},
		"next, version 1, end": {0, snmpwire.PDU{Type: snmpwire.GetNextRequest, VarBinds: null(row + "3.2")}, snmpwire.NoSuchName, 1,
			[]string{row + "3.2=null"}},
		"bulk": {1, snmpwire.PDU{Type: snmpwire.GetBulkRequest, Status: 1, Index: 2, VarBinds: null("1.3", row+"1", row+"2")}, 0, 0,
			[]string{row + "1.1=0x2:0", row + "1.1=0x2:0", row + "2.1=0x46:0", row + "1.2=0x2:0", row + "2.2=0x46:0"}},
		"bulk at the end": {1, snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 9, VarBinds: null(row + "3.2")}, 0, 0,
			[]string{row + "3.2=endOfMibView"}},
		"bulk of nothing": {1, snmpwire.PDU{Type: snmpwire.GetBulkRequest, Status: -3, Index: -1, VarBinds: null(row + "1")}, 0, 0, nil},
	} {
		got := ask(t, a, c.version, "public", c.pdu)
		if got == nil {
			t.Errorf("%s: no answer", name)
			continue
		}
		if got.Status != c.status || got.Index != c.place {
			t.Errorf("%s: %s at %d, want %s at %d", name, got.Status, got.Index, c.status, c.place)
		}
		if d := cmp.Diff(c.want, names(got.VarBinds)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}

func TestSilentOnPurpose(t *testing.T) {
	_, a := toyAgent(1)
	get := snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(row + "1.1")}
	if ask(t, a, 1, "wrong", get) != nil || ask(t, a, 1, "", get) != nil {
		t.Error("a wrong community gets an answer")
	}
	if ask(t, a, 0, "public", snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 1, VarBinds: null("1.3")}) != nil {
		t.Error("GETBULK in version 1 gets an answer")
	}
	if s := a.Stats(); s.BadAuth != 2 {
		t.Errorf("%d wrong communities are counted, want 2", s.BadAuth)
	}
}

func TestAnswersFit(t *testing.T) {
	_, a := toyAgent(100)
	bulk := snmpwire.PDU{Type: snmpwire.GetBulkRequest, Index: 1000, VarBinds: null(row + "3")}
	msg := snmpwire.EncodeCommunity(1, "public", bulk.Raw())
	out := a.Handle(msg)
	if len(out) > snmpagent.DefaultMaxMessage || len(out) < snmpagent.DefaultMaxMessage-200 {
		t.Errorf("the answer has %d octets; %d were to be filled", len(out), snmpagent.DefaultMaxMessage)
	}
	var many []string
	for range 20 {
		many = append(many, row+"3.1")
	}
	got := ask(t, a, 1, "public", snmpwire.PDU{Type: snmpwire.GetRequest, VarBinds: null(many...)})
	if got.Status != snmpwire.TooBig || got.Index != 0 || len(got.VarBinds) != 0 {
		t.Errorf("GET of too much: %s at %d with %d variable bindings, want tooBig at 0 with none", got.Status, got.Index, len(got.VarBinds))
	}
}

func TestSet(t *testing.T) {
	five := snmpwire.Int32(5)
	for name, c := range map[string]struct {
		community string
		list      []snmpwire.VarBind
		status    snmpwire.Status
		place     int
	}{
		"one":               {"private", []snmpwire.VarBind{bind(row+"1.1", five)}, 0, 0},
		"two":               {"private", []snmpwire.VarBind{bind(row+"1.1", five), bind(row+"1.2", five)}, 0, 0},
		"read community":    {"public", []snmpwire.VarBind{bind(row+"1.1", five)}, snmpwire.NoAccess, 1},
		"unknown object":    {"private", []snmpwire.VarBind{bind("1.3.6.1.9.2.0", five)}, snmpwire.NotWritable, 1},
		"read-only object":  {"private", []snmpwire.VarBind{bind(row+"1.1", five), bind(row+"2.1", five)}, snmpwire.NotWritable, 2},
		"wrong type":        {"private", []snmpwire.VarBind{bind(row+"1.1", snmpwire.Text("5"))}, snmpwire.WrongType, 1},
		"wrong value":       {"private", []snmpwire.VarBind{bind(row+"1.1", snmpwire.Int32(101))}, snmpwire.WrongValue, 1},
		"no such row":       {"private", []snmpwire.VarBind{bind(row+"1.1", five), bind(row+"1.9", five)}, snmpwire.NoCreation, 2},
		"fails at the test": {"private", []snmpwire.VarBind{bind(row+"1.1", five), bind(row+"1.2", snmpwire.Int32(13))}, snmpwire.InconsistentValue, 2},
	} {
		d, a := toyAgent(2)
		got := ask(t, a, 1, c.community, snmpwire.PDU{Type: snmpwire.SetRequest, VarBinds: c.list})
		if got.Status != c.status || got.Index != c.place {
			t.Errorf("%s: %s at %d, want %s at %d", name, got.Status, got.Index, c.status, c.place)
		}
		if d := cmp.Diff(names(c.list), names(got.VarBinds)); d != "" {
			t.Errorf("%s: the answer does not repeat the request: %s", name, d)
		}
		if done := d.numbers[0] == 5; done != (c.status == 0) || (d.commits > 0) != done {
			t.Errorf("%s: first row %d, %d commits", name, d.numbers[0], d.commits)
		}
	}
}

// A SET whose answer would not fit is not done.
func TestSetTooBig(t *testing.T) {
	d, a := toyAgent(1)
	list := []snmpwire.VarBind{}
	for range 200 {
		list = append(list, bind(row+"1.1", snmpwire.Int32(5)))
	}
	got := ask(t, a, 1, "private", snmpwire.PDU{Type: snmpwire.SetRequest, VarBinds: list})
	if got.Status != snmpwire.TooBig || d.numbers[0] != 0 || d.commits != 0 {
		t.Errorf("%s, the row is %d", got.Status, d.numbers[0])
	}
}

func FuzzHandle(f *testing.F) {
	d := newToy(3)
	user, err := snmpwire.NewUser("ops", gosnmp.SHA, "authpass123", gosnmp.DES, "privpass123")
	if err != nil {
		f.Fatal(err)
	}
	a := snmpagent.New(snmpagent.Config{MIB: d.mib(), ReadCommunity: "public", WriteCommunity: "private",
		Users: []*snmpwire.User{user}, EngineID: []byte("12345678")})
	for _, kind := range []snmpwire.Tag{snmpwire.GetRequest, snmpwire.GetBulkRequest, snmpwire.SetRequest} {
		f.Add(snmpwire.EncodeCommunity(1, "private", snmpwire.PDU{Type: kind, Index: 10, VarBinds: null(row + "1")}.Raw()))
	}
	discovery, err := snmpwire.EncodeV3(gosnmp.SnmpPacket{MsgFlags: gosnmp.Reportable}, &snmpwire.Keys{}, 0, 0, snmpwire.PDU{Type: snmpwire.GetRequest}.Raw())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(discovery)
	f.Fuzz(func(t *testing.T, msg []byte) {
		if out := a.Handle(msg); len(out) > snmpagent.DefaultMaxMessage+200 {
			t.Errorf("an answer of %d octets", len(out))
		}
	})
}
