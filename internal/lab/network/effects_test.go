package network_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
)

func write(t testing.TB, g *gosnmp.GoSNMP, name string, v int) {
	t.Helper()
	r, err := g.Set([]gosnmp.SnmpPDU{{Name: name, Type: gosnmp.Integer, Value: v}})
	if err != nil || r.Error != gosnmp.NoError {
		t.Fatalf("SET %s: %v, %v", name, r, err)
	}
}

func read(t testing.TB, g *gosnmp.GoSNMP, name string) any {
	t.Helper()
	r, err := g.Get([]string{name})
	if err != nil || r.Error != gosnmp.NoError {
		t.Fatalf("GET %s: %v, %v", name, r, err)
	}
	if b, ok := r.Variables[0].Value.([]byte); ok {
		return fmt.Sprintf("%x", b)
	}
	return r.Variables[0].Value
}

// A switch with a better priority becomes the root of all others.
func TestPriorityMovesTheRoot(t *testing.T) {
	n := start(t, network.Options{Topology: "ring:4"})
	const root = "1.3.6.1.2.1.17.2.15.1.6.1"
	if got := read(t, open(t, n, "sw4"), root); got != "8000020000000001" {
		t.Errorf("the root is %s", got)
	}
	write(t, open(t, n, "sw3"), "1.3.6.1.2.1.17.2.2.0", 4096)
	if got := read(t, open(t, n, "sw4"), root); got != "1000020000000003" {
		t.Errorf("the root is %s after the priority was set", got)
	}
	// STP off at the root's ports: the others find a root among themselves.
	write(t, open(t, n, "sw3"), "1.3.6.1.2.1.17.2.15.1.4.1", 2)
	write(t, open(t, n, "sw3"), "1.3.6.1.2.1.17.2.15.1.4.2", 2)
	if got := read(t, open(t, n, "sw4"), root); got != "8000020000000001" {
		t.Errorf("the root is %s without sw3", got)
	}
}

// A restart is announced by coldStart; version 3 managers synchronize again.
func TestRestart(t *testing.T) {
	traps, target := listen(t)
	now := time.Now() // the clock stands
	n := start(t, network.Options{Topology: "chain:2", V3: true, Clock: func() time.Time { return now }})
	node, err := n.Node("sw1")
	if err != nil {
		t.Fatal(err)
	}
	g := &gosnmp.GoSNMP{Target: "127.0.0.1", Port: node.Server.Addr().Port(), Version: gosnmp.Version3, Timeout: 30 * time.Second, Retries: 2,
		SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.AuthPriv, SecurityParameters: &gosnmp.UsmSecurityParameters{
			UserName: "ops", AuthenticationProtocol: gosnmp.SHA256, AuthenticationPassphrase: "authpass123",
			PrivacyProtocol: gosnmp.AES, PrivacyPassphrase: "privpass123"}}
	if err := g.Connect(); err != nil {
		t.Fatal(err)
	}
	defer g.Conn.Close()
	const upTime = "1.3.6.1.2.1.1.3.0"
	if up := read(t, g, upTime).(uint32); up != 360000 {
		t.Errorf("sysUpTime is %d at the start", up)
	}
	n.SetTargets(target)
	if err := n.Restart("sw1"); err != nil {
		t.Fatal(err)
	}
	if up := read(t, g, upTime).(uint32); up != 0 {
		t.Errorf("sysUpTime is %d after the restart", up)
	}
	seen := map[string]bool{}
	for range 8 { // down, change and up, change of sw2; coldStart, up and change of sw1
		from, trap, _ := traps.next(t)
		if seen[from.String()+trap] = true; trap == network.ColdStart {
			break
		}
		if from == node.Server.Addr() {
			t.Errorf("sw1 sends %s before coldStart", trap)
		}
	}
	if !seen[node.Server.Addr().String()+network.ColdStart] {
		t.Error("there is no coldStart")
	}
	if node.Neighbors(1) != 1 || n.Restart("sw9") == nil {
		t.Error("the neighbour is not back, or a switch there is not restarts")
	}
}

// Managers, cables and faults at the same time do not harm each other.
func TestEverythingAtOnce(t *testing.T) {
	_, target := listen(t)
	target.Inform, target.Timeout = true, time.Millisecond
	n := start(t, network.Options{Topology: "ring:4", Ports: 8, Targets: nil})
	n.SetTargets(target)
	var wg sync.WaitGroup
	for i := range 4 {
		name := "sw" + strconv.Itoa(i+1)
		g := open(t, n, name)
		wg.Go(func() {
			for range 5 {
				if _, err := g.BulkWalkAll("1.3.6.1.2.1.17"); err != nil {
					t.Error(err)
				}
				if _, err := g.Set([]gosnmp.SnmpPDU{{Name: "1.3.6.1.2.1.2.2.1.7.1", Type: gosnmp.Integer, Value: 1 + i%2}}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for k := range 10 {
				if err := n.SetLink(name, "sw"+strconv.Itoa((i+1)%4+1), k%2 == 0); err != nil {
					t.Error(err)
				}
				if err := n.SetFaults(name, faults.Set{Duplicate: k%2 == 0}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n.Relearn()
}
