package traps

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
)

var (
	start  = time.Unix(1_800_000_000, 0)
	engine = Engine{ID: []byte{0x80, 0, 0x7e, 0xd9, 5, 1, 2, 3}, Boots: 7, Started: start.Add(-time.Hour)}
	from   = netip.MustParseAddrPort("192.0.2.1:40000")
)

func entry(mac mib.MAC, address string, port uint16) switchlist.Entry {
	return switchlist.Entry{MAC: mac, Address: netip.MustParseAddr(address), Port: port, ReadCommunity: "public", WriteCommunity: "private"}
}

func v3Entry(mac mib.MAC, address string) switchlist.Entry {
	return switchlist.Entry{MAC: mac, Address: netip.MustParseAddr(address), Port: 161, Version: "3", V3User: "ops",
		V3AuthProtocol: "sha-256", V3AuthPassword: "authpass123", V3PrivProtocol: "aes", V3PrivPassword: "privpass123"}
}

func newDecoder(list ...switchlist.Entry) *Decoder {
	d := NewDecoder(engine, nil)
	d.SetSenders(list)
	return d
}

var (
	linkDown = snmpwire.MustOID("1.3.6.1.6.3.1.1.5.3")
	linkVars = []snmpwire.VarBind{
		{Name: snmpwire.MustOID(ifEntry).Append(ifIndex, 5), Value: snmpwire.Int32(5)},
		{Name: snmpwire.MustOID(ifEntry).Append(ifAdminStatus, 5), Value: snmpwire.Int32(1)},
		{Name: snmpwire.MustOID(ifEntry).Append(ifOperStatus, 5), Value: snmpwire.Int32(2)},
	}
)

func pduOf(kind snmpwire.Tag, oid snmpwire.OID, vars ...snmpwire.VarBind) snmpwire.RawPDU {
	return snmpwire.PDU{Type: kind, RequestID: 9, VarBinds: append([]snmpwire.VarBind{
		{Name: snmpwire.MustOID(mib.SysUpTime), Value: snmpwire.Unsigned(snmpwire.TimeTicks, 4200)},
		{Name: snmpwire.MustOID(snmpTrapOID), Value: snmpwire.Object(oid)}}, vars...)}.Raw()
}

func v2c(community string, pdu snmpwire.RawPDU) []byte {
	return snmpwire.EncodeCommunity(snmpwire.Version2c, community, pdu)
}

// trapV1 is a message of version 1.
func trapV1(t testing.TB, trap gosnmp.SnmpTrap, vars ...snmpwire.VarBind) []byte {
	t.Helper()
	list, err := snmpwire.Variables(vars)
	if err != nil {
		t.Fatal(err)
	}
	trap.AgentAddress = "192.0.2.1"
	b, err := (&gosnmp.SnmpPacket{Version: gosnmp.Version1, Community: "public", PDUType: gosnmp.Trap, SnmpTrap: trap, Variables: list}).MarshalMsg()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhoIsBelieved(t *testing.T) {
	d := newDecoder(entry(1, "192.0.2.1", 161), v3Entry(2, "192.0.2.2"), entry(3, "192.0.2.3", 1161), entry(4, "192.0.2.3", 1162))
	trap := pduOf(snmpwire.TrapV2, linkDown, linkVars...)
	v1 := trapV1(t, gosnmp.SnmpTrap{Enterprise: "1.3.6.1.4.1.9", GenericTrap: 2, Timestamp: 4200}, linkVars...)
	for name, c := range map[string]struct {
		from  string
		msg   []byte
		want  Verdict
		node  mib.MAC
		nodes int
	}{
		"v2c, read community":               {"192.0.2.1:9", v2c("public", trap), Accepted, 1, 1},
		"v2c, write community":              {"192.0.2.1:9", v2c("private", trap), Accepted, 1, 1},
		"IPv4 in IPv6":                      {"[::ffff:192.0.2.1]:9", v2c("public", trap), Accepted, 1, 1},
		"v1":                                {"192.0.2.1:9", v1, Accepted, 1, 1},
		"wrong community":                   {"192.0.2.1:9", v2c("secret", trap), NotAuthentic, 0, 0},
		"no community":                      {"192.0.2.1:9", v2c("", trap), NotAuthentic, 0, 0},
		"a community where none is listed":  {"192.0.2.2:9", v2c("", trap), NotAuthentic, 0, 0},
		"an address that is not listed":     {"192.0.2.9:161", v2c("public", trap), UnknownSource, 0, 0},
		"distinguished by the agent's port": {"192.0.2.3:1162", v2c("public", trap), Accepted, 4, 1},
		"not distinguished":                 {"192.0.2.3:40000", v2c("public", trap), Accepted, 0, 2},
		"a GET":                             {"192.0.2.1:9", v2c("public", pduOf(snmpwire.GetRequest, linkDown)), Malformed, 0, 0},
		"a response":                        {"192.0.2.1:9", v2c("public", pduOf(snmpwire.Response, linkDown)), Malformed, 0, 0},
		"no trap OID":                       {"192.0.2.1:9", v2c("public", snmpwire.PDU{Type: snmpwire.TrapV2}.Raw()), Malformed, 0, 0},
		"cut short":                         {"192.0.2.1:9", v1[:len(v1)-1], Malformed, 0, 0},
		"nothing":                           {"192.0.2.1:9", nil, Malformed, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, reply, v := d.Decode(start, netip.MustParseAddrPort(c.from), c.msg)
			if v != c.want || reply != nil || (got != nil) != (v == Accepted) {
				t.Fatalf("verdict %d, want %d; reply %x", v, c.want, reply)
			}
			if v != Accepted {
				return
			}
			if got.Node != c.node || len(got.Nodes) != c.nodes {
				t.Errorf("node %s of %v", got.Node, got.Nodes)
			}
			if got.Kind != LinkDown || got.IfIndex != 5 || got.Admin != 1 || got.Oper != 2 || got.UpTime != 42*time.Second {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	d := newDecoder(entry(1, "192.0.2.1", 161))
	enterprise := func(oid string, specific int) []byte {
		return trapV1(t, gosnmp.SnmpTrap{Enterprise: oid, GenericTrap: 6, SpecificTrap: specific})
	}
	generic := func(n int) []byte {
		return trapV1(t, gosnmp.SnmpTrap{Enterprise: "1.3.6.1.4.1.9", GenericTrap: n})
	}
	second := func(oid string) []byte { return v2c("public", pduOf(snmpwire.TrapV2, snmpwire.MustOID(oid))) }
	for name, c := range map[string]struct {
		msg  []byte
		kind Kind
		oid  string
	}{
		"coldStart, v1":             {generic(0), "coldStart", "1.3.6.1.6.3.1.1.5.1"},
		"warmStart":                 {second("1.3.6.1.6.3.1.1.5.2"), "warmStart", "1.3.6.1.6.3.1.1.5.2"},
		"linkUp, v1":                {generic(3), LinkUp, "1.3.6.1.6.3.1.1.5.4"},
		"authenticationFailure":     {generic(4), "authenticationFailure", "1.3.6.1.6.3.1.1.5.5"},
		"egpNeighborLoss":           {generic(5), Other, "1.3.6.1.6.3.1.1.5.6"},
		"LLDP":                      {second("1.0.8802.1.1.2.0.0.1"), "lldpRemTablesChange", "1.0.8802.1.1.2.0.0.1"},
		"LLDP, v1":                  {enterprise("1.0.8802.1.1.2.0", 1), "lldpRemTablesChange", "1.0.8802.1.1.2.0.0.1"},
		"LLDP-V2":                   {second("1.3.111.2.802.1.1.13.0.0.1"), "lldpRemTablesChange", "1.3.111.2.802.1.1.13.0.0.1"},
		"a bridge's topologyChange": {enterprise("1.3.6.1.2.1.17", 2), "topologyChange", "1.3.6.1.2.1.17.0.2"},
		"somebody's own":            {enterprise("1.3.6.1.4.1.171", 77), Other, "1.3.6.1.4.1.171.0.77"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, v := d.Decode(start, from, c.msg)
			if v != Accepted || got.Kind != c.kind || got.OID != c.oid {
				t.Errorf("verdict %d, %+v", v, got)
			}
		})
	}
}

func TestInformIsAnswered(t *testing.T) {
	d := newDecoder(entry(1, "192.0.2.1", 161))
	got, reply, v := d.Decode(start, from, v2c("private", pduOf(snmpwire.InformRequest, linkDown, linkVars...)))
	if v != Accepted || !got.Inform {
		t.Fatalf("verdict %d, %+v", v, got)
	}
	m, err := snmpwire.DecodeCommunity(reply)
	if err != nil || m.PDU.Type != snmpwire.Response || m.PDU.RequestID != 9 || m.PDU.Status != 0 || len(m.PDU.VarBinds) != 5 || m.Community != "private" {
		t.Errorf("answer %+v, %v", m, err)
	}
	if _, reply, _ := d.Decode(start, from, v2c("wrong", pduOf(snmpwire.InformRequest, linkDown))); reply != nil {
		t.Error("an inform with a wrong community is answered")
	}
}

// secure makes a version 3 message.
type secure struct {
	user        *snmpwire.User
	engine      []byte
	boots, time int
	flags       gosnmp.SnmpV3MsgFlags
}

func ops(t testing.TB) *snmpwire.User {
	t.Helper()
	u, err := snmpwire.NewUser("ops", gosnmp.SHA256, "authpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (s secure) message(t testing.TB, pdu snmpwire.RawPDU) []byte {
	t.Helper()
	b, err := snmpwire.EncodeV3(gosnmp.SnmpPacket{MsgID: 5, MsgFlags: s.flags, ContextEngineID: string(s.engine)},
		s.user.Localize(s.engine), s.boots, s.time, pdu)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestV3Traps(t *testing.T) {
	theirs := []byte{0x80, 0, 0x1f, 0x88, 4, 'a', 'b'}
	stranger, err := snmpwire.NewUser("ops", gosnmp.SHA256, "otherpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	trap := pduOf(snmpwire.TrapV2, linkDown, linkVars...)
	d := newDecoder(v3Entry(2, "192.0.2.1"))
	for _, c := range []struct {
		name  string
		after time.Duration
		s     secure
		want  Verdict
	}{
		{"good", 0, secure{ops(t), theirs, 3, 1000, gosnmp.AuthPriv}, Accepted},
		{"again", 0, secure{ops(t), theirs, 3, 1000, gosnmp.AuthPriv}, Accepted},
		{"a little late", 0, secure{ops(t), theirs, 3, 900, gosnmp.AuthPriv}, Accepted},
		{"too late", 0, secure{ops(t), theirs, 3, 800, gosnmp.AuthPriv}, Replayed},
		{"later", time.Hour, secure{ops(t), theirs, 3, 4600, gosnmp.AuthPriv}, Accepted},
		{"the first one, recorded", time.Hour, secure{ops(t), theirs, 3, 1000, gosnmp.AuthPriv}, Replayed},
		{"after a restart", time.Hour, secure{ops(t), theirs, 4, 1, gosnmp.AuthPriv}, Accepted},
		{"of before the restart", time.Hour, secure{ops(t), theirs, 3, 9999, gosnmp.AuthPriv}, Replayed},
		{"wrong password", 0, secure{stranger, theirs, 3, 1000, gosnmp.AuthPriv}, NotAuthentic},
		{"not encrypted", 0, secure{ops(t), theirs, 3, 1000, gosnmp.AuthNoPriv}, NotAuthentic},
		{"not authenticated", 0, secure{ops(t), theirs, 3, 1000, 0}, NotAuthentic},
		{"a short engine id", 0, secure{ops(t), []byte{1}, 3, 1000, gosnmp.AuthPriv}, Malformed},
	} {
		_, reply, v := d.Decode(start.Add(c.after), from, c.s.message(t, trap))
		if v != c.want || reply != nil {
			t.Errorf("%s: verdict %d, want %d; reply %x", c.name, v, c.want, reply)
		}
	}
	if _, reply, v := newDecoder(entry(1, "192.0.2.1", 161)).Decode(start, from, secure{ops(t), nil, 0, 0, gosnmp.Reportable}.message(t, trap)); v != NotAuthentic || reply != nil {
		t.Errorf("a switch listed without a user: verdict %d, reply %x", v, reply)
	}
}

// The three steps of RFC 3414 section 4: who are you, what time is it, the inform.
func TestV3Inform(t *testing.T) {
	d := newDecoder(v3Entry(2, "192.0.2.1"))
	inform := pduOf(snmpwire.InformRequest, linkDown, linkVars...)
	step := func(name string, s secure, want Verdict) *snmpwire.MessageV3 {
		t.Helper()
		_, reply, v := d.Decode(start, from, s.message(t, inform))
		if v != want || reply == nil {
			t.Fatalf("%s: verdict %d, reply %x", name, v, reply)
		}
		m, err := snmpwire.DecodeV3(reply, nil)
		if errors.Is(err, snmpwire.ErrSealed) {
			m, err = snmpwire.DecodeV3(reply, s.user.Localize(engine.ID))
		}
		if err != nil || m.USM().AuthoritativeEngineID != string(engine.ID) || m.MsgID != 5 {
			t.Fatalf("%s: %+v, %v", name, m, err)
		}
		return m
	}
	nobody, err := snmpwire.NewUser("probe", gosnmp.NoAuth, "", gosnmp.NoPriv, "")
	if err != nil {
		t.Fatal(err)
	}
	m := step("who", secure{nobody, nil, 0, 0, gosnmp.Reportable}, Asked)
	if m.PDU.Type != snmpwire.Report || m.PDU.VarBinds[0].Name.String() != "1.3.6.1.6.3.15.1.1.4.0" {
		t.Errorf("%+v", m.PDU)
	}
	m = step("when", secure{ops(t), engine.ID, 0, 0, gosnmp.AuthPriv | gosnmp.Reportable}, Asked)
	if m.PDU.Type != snmpwire.Report || m.PDU.VarBinds[0].Name.String() != "1.3.6.1.6.3.15.1.1.2.0" || m.USM().AuthoritativeEngineBoots != 7 || m.USM().AuthoritativeEngineTime != 3600 || m.MsgFlags&gosnmp.AuthNoPriv == 0 {
		t.Errorf("%+v", m)
	}
	m = step("what", secure{ops(t), engine.ID, 7, 3600, gosnmp.AuthPriv | gosnmp.Reportable}, Accepted)
	if m.PDU.Type != snmpwire.Response || m.PDU.RequestID != 9 || len(m.PDU.VarBinds) != 5 || m.MsgFlags&gosnmp.AuthPriv != gosnmp.AuthPriv {
		t.Errorf("%+v", m)
	}
}

// What was kept for addresses goes when the list changes.
func TestListChanges(t *testing.T) {
	d := newDecoder(v3Entry(2, "192.0.2.1"))
	msg := secure{ops(t), []byte{0x80, 0, 0x1f, 0x88, 4, 'a'}, 3, 1000, gosnmp.AuthPriv}.message(t, pduOf(snmpwire.TrapV2, linkDown))
	if _, _, v := d.Decode(start, from, msg); v != Accepted {
		t.Fatalf("verdict %d", v)
	}
	d.SetSenders(nil)
	if _, _, v := d.Decode(start, from, msg); v != UnknownSource || len(d.clocks) != 0 {
		t.Errorf("verdict %d; %d clocks are kept", v, len(d.clocks))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(v2c("public", pduOf(snmpwire.TrapV2, linkDown, linkVars...)))
	f.Add(v2c("public", pduOf(snmpwire.InformRequest, linkDown, linkVars...)))
	f.Add(trapV1(f, gosnmp.SnmpTrap{Enterprise: "1.3.6.1.4.1.9", GenericTrap: 2}, linkVars...))
	user := ops(f)
	f.Add(secure{user, []byte{0x80, 0, 0x1f, 0x88, 4, 'a'}, 3, 1000, gosnmp.AuthPriv}.message(f, pduOf(snmpwire.TrapV2, linkDown)))
	f.Add(secure{user, engine.ID, 7, 3600, gosnmp.AuthPriv | gosnmp.Reportable}.message(f, pduOf(snmpwire.InformRequest, linkDown)))
	f.Add(secure{user, nil, 0, 0, gosnmp.Reportable}.message(f, pduOf(snmpwire.GetRequest, linkDown)))
	list := []switchlist.Entry{entry(1, "192.0.2.1", 161), v3Entry(2, "192.0.2.1")}
	d := newDecoder(list...)
	f.Fuzz(func(t *testing.T, msg []byte) {
		got, reply, v := d.Decode(start, from, msg)
		switch {
		case (got != nil) != (v == Accepted):
			t.Fatalf("verdict %d and trap %+v", v, got)
		case got != nil && (got.Kind == "" || got.OID == "" || len(got.Nodes) == 0):
			t.Fatalf("an empty trap: %+v", got)
		case got != nil && got.Inform != (reply != nil):
			t.Fatalf("inform %v, reply %x", got.Inform, reply)
		case reply != nil && len(reply) > len(msg)+256:
			t.Fatalf("%d octets are answered with %d", len(msg), len(reply))
		}
		if _, reply, v := d.Decode(start, netip.MustParseAddrPort("198.51.100.1:161"), msg); v != UnknownSource || reply != nil {
			t.Fatalf("an unknown sender gets %x", reply)
		}
	})
}

// A switch that restarts without counting it is believed again as soon as an answer to our own request proves its new
// clock; what was recorded before stays refused.
func TestClockThatIsProved(t *testing.T) {
	theirs := []byte{0x80, 0, 0x1f, 0x88, 4, 'a', 'b'}
	trap := pduOf(snmpwire.TrapV2, linkDown, linkVars...)
	proved := NewClocks()
	d := NewDecoder(engine, proved)
	d.SetSenders([]switchlist.Entry{v3Entry(2, "192.0.2.1")})
	send := func(what string, after time.Duration, boots, seconds int, want Verdict) {
		t.Helper()
		got, _, v := d.Decode(start.Add(after), from, secure{ops(t), theirs, boots, seconds, gosnmp.AuthPriv}.message(t, trap))
		if v != want || (v == Accepted && got.Node != 2) {
			t.Errorf("%s: verdict %d, want %d", what, v, want)
		}
	}
	prove := func(after time.Duration, boots, seconds uint32) {
		proved.Prove(start.Add(after), from.Addr(), string(theirs), boots, seconds)
	}
	send("at first", 0, 3, 50000, Accepted)
	send("after a restart that is not counted", time.Minute, 3, 20, Replayed)
	proved.Prove(start.Add(time.Minute), from.Addr(), "another engine", 3, 30)
	send("another engine is no proof", time.Minute, 3, 20, Replayed)
	prove(time.Minute, 3, 30)
	send("once an answer proves the clock", time.Minute, 3, 31, Accepted)
	send("recorded before the restart", time.Minute, 3, 50000, Replayed)
	send("recorded before the restart, and late", time.Minute, 3, 40000, Replayed)
	send("later", time.Hour, 3, 3600, Accepted)
	send("recorded before the restart, later", time.Hour, 3, 50000, Replayed)
	prove(2*time.Hour, 3, 7200)
	send("and recorded after an answer", 2*time.Hour, 3, 50000, Replayed)
	prove(150*time.Minute, 3, 10)
	send("after a second one", 150*time.Minute, 3, 12, Accepted)
	send("recorded before the first restart, after the second", 150*time.Minute, 3, 50000, Replayed)
	send("recorded between the restarts", 150*time.Minute, 3, 7200, Replayed)
	send("a restart that is counted", 3*time.Hour, 4, 5, Accepted)
	send("of before it", 3*time.Hour, 3, 7300, Replayed)
	prove(4*time.Hour, 1, 10) // it has lost the count
	send("with fewer boots", 4*time.Hour, 1, 15, Accepted)
	send("with the boots of before", 4*time.Hour, 4, 3600, Replayed)
	send("with more than ever", 4*time.Hour, 5, 1, Accepted)
	prove(0, 1, 20) // an answer that was slow
	send("an old proof", 4*time.Hour, 5, 2, Accepted)
	d.SetSenders(nil)
	if len(d.clocks) != 0 || len(proved.proofs) != 0 {
		t.Errorf("kept: %v, %v", d.clocks, proved.proofs)
	}
}
