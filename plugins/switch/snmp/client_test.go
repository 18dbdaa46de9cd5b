package snmp_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t testing.TB, o network.Options) *network.Network {
	t.Helper()
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func client(t testing.TB, o snmp.Options) *snmp.Client {
	t.Helper()
	c := snmp.NewClient(o)
	t.Cleanup(c.Close)
	return c
}

func target(n *network.Network, i int) snmp.Target {
	return snmp.Target{Addr: n.Nodes()[i].Server.Addr(), Version: "2c", Community: "private"}
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

var columns = []string{mib.BasePortIfIndex, mib.IfName, mib.IfAdminStatus, mib.LLDPRemChassisID}

// read walks and counts what each column has.
func read(ctx context.Context, c *snmp.Client, t snmp.Target) ([4]int, error) {
	var got [4]int
	last := [4]uint32{}
	err := c.WalkFrom(ctx, t, 0, columns, func(col int, ix []uint32, v snmp.Value) error {
		if col < 3 && ix[0] <= last[col] {
			return fmt.Errorf("column %d: %d after %d", col, ix[0], last[col])
		}
		last[col] = ix[0]
		got[col]++
		return nil
	})
	return got, err
}

// What an agent does wrong costs time, not data.
func TestWalkSurvives(t *testing.T) {
	for _, f := range []string{"none", "loss=30", "duplicate", "toobig=7", "toobig=3", "nobulk", "huge", "delay=5ms", "missing=1.3.6.1.2.1.31"} {
		t.Run(f, func(t *testing.T) {
			t.Parallel()
			n := start(t, network.Options{Topology: "ring:3", Ports: 24})
			set, err := faults.Parse(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.SetFaults("sw1", set); err != nil {
				t.Fatal(err)
			}
			tries := 100
			if f == "nobulk" { // all of them are made before it is asked otherwise
				tries = 20
			}
			c := client(t, snmp.Options{Timeout: 100 * time.Millisecond, Retries: tries})
			if _, err := c.Get(deadline(t), target(n, 0), mib.SysObjectID); err != nil {
				t.Fatal(err)
			}
			got, err := read(deadline(t), c, target(n, 0))
			if err != nil {
				t.Fatal(err)
			}
			want := [4]int{24, 25, 25, 2} // ifTable has the management interface besides
			if len(set.Missing) > 0 {
				want[1] = 0
			}
			if got != want {
				t.Errorf("read %v, want %v", got, want)
			}
		})
	}
}

// An agent that answers the same instance for ever is left, with an error that
// names the column.
func TestWalkLeavesLoop(t *testing.T) {
	n := start(t, network.Options{Topology: "ring:3"})
	if err := n.SetFaults("sw1", faults.Set{Loop: true}); err != nil {
		t.Fatal(err)
	}
	_, err := read(deadline(t), client(t, snmp.Options{}), target(n, 0))
	var loop *snmp.LoopError
	if !errors.As(err, &loop) {
		t.Fatalf("error %v, want a loop", err)
	}
}

func TestBrokenAgents(t *testing.T) {
	for _, f := range []string{"silent", "garbage", "truncate", "wrongid"} {
		t.Run(f, func(t *testing.T) {
			t.Parallel()
			n := start(t, network.Options{Topology: "ring:3"})
			set, err := faults.Parse(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.SetFaults("sw1", set); err != nil {
				t.Fatal(err)
			}
			c := client(t, snmp.Options{Timeout: 50 * time.Millisecond, Retries: 1})
			_, err = read(deadline(t), c, target(n, 0))
			var e *snmp.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want an SNMP error", err)
			}
			if c.Sockets() != 0 {
				t.Errorf("%d sockets left open", c.Sockets())
			}
		})
	}
}

func TestVersions(t *testing.T) {
	v3 := start(t, network.Options{Topology: "ring:3", V3: true})
	v2 := start(t, network.Options{Topology: "ring:3"})
	user := snmp.Target{Addr: v3.Nodes()[0].Server.Addr(), Version: "3", User: "ops", AuthProtocol: "sha-256",
		AuthPassword: "authpass123", PrivProtocol: "aes", PrivPassword: "privpass123"}
	one, auto := target(v2, 0), target(v2, 0)
	one.Version, auto.Version = "1", ""
	c := client(t, snmp.Options{})
	for name, to := range map[string]snmp.Target{"3": user, "1": one, "2c": target(v2, 0), "not told": auto} {
		for range 2 { // the second time with what was learned
			got, err := read(deadline(t), c, to)
			if err != nil || got != [4]int{24, 25, 25, 2} {
				t.Errorf("version %s: %v, %v", name, got, err)
			}
		}
	}
	user.AuthPassword = "wrong-password"
	_, err := read(deadline(t), client(t, snmp.Options{}), user)
	var e *snmp.Error
	if !errors.As(err, &e) || !e.Access() {
		t.Errorf("wrong password: %v", err)
	}
}

// In version 1 a missing instance fails the request; the others are read all the same.
func TestGetVersion1(t *testing.T) {
	n := start(t, network.Options{Topology: "ring:3"})
	to := target(n, 0)
	to.Version = "1"
	v, err := client(t, snmp.Options{}).Get(deadline(t), to, ".1.3.6.1.9.9.9.0", mib.SysName, ".1.3.6.1.9.9.8.0")
	if err != nil {
		t.Fatal(err)
	}
	if v[0].Exists() || v[2].Exists() || string(v[1].Bytes()) != "sw1" {
		t.Errorf("got %v", v)
	}
}

// The number of sockets is bounded, however many switches and callers there are.
func TestSocketsAreBounded(t *testing.T) {
	n := start(t, network.Options{Topology: "single:50"})
	c := client(t, snmp.Options{Sockets: 8})
	var wg sync.WaitGroup
	var mu sync.Mutex
	most := 0
	for i := range 50 {
		for range 2 {
			wg.Go(func() {
				if _, err := c.Get(deadline(t), target(n, i), mib.SysName); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				most = max(most, c.Sockets())
			})
		}
	}
	wg.Wait()
	if most > 8 || c.Sockets() > 8 {
		t.Errorf("%d sockets at once, %d now", most, c.Sockets())
	}
	c.Trim(2, nil)
	if c.Sockets() != 2 {
		t.Errorf("%d sockets after trimming to 2", c.Sockets())
	}
}

func TestSetNamesTheObject(t *testing.T) {
	n := start(t, network.Options{Topology: "single:1"})
	c := client(t, snmp.Options{})
	err := c.Set(deadline(t), target(n, 0), snmp.Octets(mib.SysName, []byte("x")), snmp.Integer(mib.SysDescr, 1))
	var e *snmp.Error
	if !errors.As(err, &e) || e.Status == 0 || e.OID != mib.SysDescr {
		t.Errorf("error %v of %v", err, e)
	}
	if err := n.SetFaults("sw1", faults.Set{SetStatus: snmpwire.InconsistentValue}); err != nil {
		t.Fatal(err)
	}
	if err := c.Set(deadline(t), target(n, 0), snmp.Octets(mib.SysName, []byte("x"))); err == nil || e == nil {
		t.Error("refused SET gives no error")
	}
}

// A call given up comes back at once and leaves nothing.
func TestCancel(t *testing.T) {
	n := start(t, network.Options{Topology: "single:1"})
	if err := n.SetFaults("sw1", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	c := client(t, snmp.Options{Timeout: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := c.Get(ctx, target(n, 0), mib.SysName)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if c.Sockets() != 0 {
		t.Errorf("%d sockets left", c.Sockets())
	}
}

// An agent that was replaced, and has another engine ID, is read again at once; an agent that does not accept
// the user says why.
func TestV3EngineChange(t *testing.T) {
	host := snmpagent.NewHost()
	t.Cleanup(host.Close)
	user := func(name, auth, priv string) *snmpwire.User {
		u, err := snmpwire.NewUser(name, gosnmp.SHA256, auth, gosnmp.AES, priv)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	at := netip.MustParseAddrPort("127.0.0.1:0")
	var server *snmpagent.Server
	agent := func(engine byte, u *snmpwire.User) {
		t.Helper()
		if server != nil {
			_ = server.Close()
		}
		var err error
		server, err = host.Listen(at, snmpagent.New(snmpagent.Config{MIB: oneValue{}, Users: []*snmpwire.User{u}, EngineID: []byte{0x80, 1, 0x86, 0x9f, 5, engine}}))
		if err != nil {
			t.Fatal(err)
		}
		at = server.Addr()
	}
	agent(1, user("ops", "authpass123", "privpass123"))
	c := client(t, snmp.Options{Timeout: 20 * time.Second, Retries: 1})
	to := snmp.Target{Addr: at, Version: "3", User: "ops", AuthProtocol: "sha-256", AuthPassword: "authpass123", PrivProtocol: "aes", PrivPassword: "privpass123"}
	ask := func() error {
		_, err := c.Get(deadline(t), to, mib.SysName)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	agent(2, user("ops", "authpass123", "privpass123"))
	if err := ask(); err != nil {
		t.Errorf("with another engine ID: %v", err)
	}
	for want, u := range map[string]*snmpwire.User{"does not know the user": user("other", "authpass123", "privpass123"),
		"another authentication password": user("ops", "changed-pass", "privpass123"), "another privacy password": user("ops", "authpass123", "changed-pass")} {
		agent(3, u)
		c := client(t, snmp.Options{Timeout: 20 * time.Second, Retries: 0})
		_, err := c.Get(deadline(t), to, mib.SysName)
		var e *snmp.Error
		if !errors.As(err, &e) || !e.Access() || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "authpass123") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// oneValue is a MIB of sysName.
type oneValue struct{}

func (oneValue) Get(snmpwire.OID) snmpwire.Value {
	return snmpwire.Value{Tag: snmpwire.OctetString, Bytes: []byte("sw1")}
}
func (oneValue) Next(_, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	return dst[:0], snmpwire.Value{Tag: snmpwire.EndOfMibView}
}
func (oneValue) Set([]snmpwire.VarBind) (snmpwire.Status, int) { return snmpwire.NotWritable, 1 }
