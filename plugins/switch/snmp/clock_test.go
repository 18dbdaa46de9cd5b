package snmp_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// Each authenticated answer gives the clock of its engine, also after a restart that the agent did not count; answers
// that are not authenticated tell nothing.
func TestClockOfAnswers(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1_800_000_000, 0)
	host := snmpagent.NewHost()
	t.Cleanup(host.Close)
	secure, err := snmpwire.NewUser("ops", gosnmp.SHA256, "authpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	open, err := snmpwire.NewUser("open", gosnmp.NoAuth, "", gosnmp.NoPriv, "")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort("127.0.0.1:0")
	var server *snmpagent.Server
	restart := func() {
		t.Helper()
		if server != nil {
			_ = server.Close()
		}
		server, err = host.Listen(at, snmpagent.New(snmpagent.Config{MIB: oneValue{}, Users: []*snmpwire.User{secure, open}, EngineID: []byte("ctl-engine"), Boots: 3,
			Clock: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }}))
		if err != nil {
			t.Fatal(err)
		}
		at = server.Addr()
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	type clock struct {
		engine      string
		boots, time uint32
	}
	var heard []clock
	c := client(t, snmp.Options{Timeout: 20 * time.Second, Retries: 1, Clock: func(agent netip.Addr, engine string, boots, seconds uint32) {
		if agent != at.Addr() {
			t.Errorf("an answer of %s", agent)
		}
		heard = append(heard, clock{engine, boots, seconds})
	}})
	ask := func(to snmp.Target) {
		t.Helper()
		to.Addr, to.Version = at, "3"
		if _, err := c.Get(deadline(t), to, mib.SysName); err != nil {
			t.Fatal(err)
		}
	}
	ops := snmp.Target{User: "ops", AuthProtocol: "sha-256", AuthPassword: "authpass123", PrivProtocol: "aes", PrivPassword: "privpass123"}
	restart()
	pass(1000 * time.Second)
	ask(ops)
	ask(snmp.Target{User: "open"})
	restart()
	pass(5 * time.Second)
	ask(ops)
	if len(heard) != 2 || heard[0] != (clock{"ctl-engine", 3, 1000}) || heard[1] != (clock{"ctl-engine", 3, 5}) {
		t.Errorf("heard %+v", heard)
	}
}
