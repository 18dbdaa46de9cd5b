package network_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simswitch"
)

func TestTopologies(t *testing.T) {
	for text, want := range map[string][2]int{
		"ring:8,tree:3x2": {15, 14}, "chain:1": {1, 0}, "chain:5": {5, 4}, "leafspine:4x2": {6, 8}, "single:3": {3, 0}, "tree:1x9": {1, 0},
	} {
		n := start(t, network.Options{Topology: text})
		if got := [2]int{len(n.Nodes()), len(n.Links())}; got != want {
			t.Errorf("%s has %d switches and %d links, want %d and %d", text, got[0], got[1], want[0], want[1])
		}
		for _, node := range n.Nodes() {
			if d := cmp.Diff(told(n, node.Name()), discovered(t, n, node.Name())); d != "" {
				t.Errorf("%s: LLDP of %s: %s", text, node.Name(), d)
			}
		}
	}
}

func TestStartRefuses(t *testing.T) {
	for want, o := range map[string]network.Options{
		"the forms are":     {Topology: "ring:2"},
		"not understood":    {Topology: "star:4"},
		"more than 20000":   {Topology: "tree:20x2"},
		"ask for more":      {Topology: "leafspine:30x2", Ports: 24},
		"only IPv4":         {Topology: "chain:1", Listen: netip.MustParsePrefix("192.0.2.1/32")},
		"too few addresses": {Topology: "chain:9", Listen: netip.MustParsePrefix("127.9.0.0/30"), BasePort: 40161},
		"no profile":        {Topology: "chain:1", Models: []string{"nobody's"}},
		"ports end":         {Topology: "chain:2", BasePort: 65535},
	} {
		n, err := network.Start(o)
		if err == nil {
			n.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// An address for each switch, all at one port.
func TestAddresses(t *testing.T) {
	free := start(t, network.Options{Topology: "chain:1"}).Nodes()[0].Server.Addr().Port()
	n := start(t, network.Options{Topology: "chain:3", Listen: netip.MustParsePrefix("127.77.0.0/24"), BasePort: int(free)})
	for i, want := range []string{"127.77.0.1", "127.77.0.2", "127.77.0.3"} {
		node := n.Nodes()[i]
		if got := node.Server.Addr(); got.Addr().String() != want || got.Port() != free || node.Address().Addr() != got.Addr() {
			t.Errorf("%s listens at %s and says it is %s, want %s", node.Name(), got, node.Address(), want)
		}
	}
	if d := cmp.Diff(told(n, "sw2"), discovered(t, n, "sw2")); d != "" {
		t.Error(d)
	}
}

// A cut link is gone at both ends, and back when mended; STP opens the ring.
func TestLinkDownAndUp(t *testing.T) {
	n := start(t, network.Options{Topology: "ring:4"})
	blocked := func() int {
		sum := 0
		for _, node := range n.Nodes() {
			for _, p := range column(t, open(t, n, node.Name()), "1.3.6.1.2.1.17.2.15.1.3") {
				if p.Value == int(simswitch.Blocking) {
					sum++
				}
			}
		}
		return sum
	}
	if blocked() != 1 {
		t.Errorf("%d ports of a ring block, want 1", blocked())
	}
	for _, up := range []bool{false, true} {
		if err := n.SetLink("sw1", "sw2", up); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"sw1", "sw2"} {
			got := discovered(t, n, name)
			if d := cmp.Diff(told(n, name), got); d != "" || len(got) != map[bool]int{false: 1, true: 2}[up] {
				t.Errorf("up=%v: %s has neighbours %v: %s", up, name, got, d)
			}
		}
		if want := map[bool]int{false: 0, true: 1}[up]; blocked() != want {
			t.Errorf("up=%v: %d ports block, want %d", up, blocked(), want)
		}
	}
	for _, pair := range [][2]string{{"sw1", "sw3"}, {"sw1", "sw9"}, {"nobody", "sw1"}} {
		if n.SetLink(pair[0], pair[1], true) == nil {
			t.Errorf("link %v is accepted", pair)
		}
	}
}

// ifAdminStatus by SNMP takes the link away at the other end too, with traps of both.
func TestAdminDownBySNMP(t *testing.T) {
	traps, target := listen(t)
	n := start(t, network.Options{Topology: "chain:2"})
	n.SetTargets(target)
	g := open(t, n, "sw1")
	for _, c := range []struct {
		status int
		trap   string
		left   int
	}{{2, network.LinkDown, 0}, {1, network.LinkUp, 1}} {
		r, err := g.Set([]gosnmp.SnmpPDU{{Name: "1.3.6.1.2.1.2.2.1.7.1", Type: gosnmp.Integer, Value: c.status}})
		if err != nil || r.Error != gosnmp.NoError {
			t.Fatalf("set: %v, %v", r, err)
		}
		if got := len(discovered(t, n, "sw2")); got != c.left {
			t.Errorf("sw2 has %d neighbours, want %d", got, c.left)
		}
		for _, want := range []struct{ node, trap string }{{"sw1", c.trap}, {"sw2", c.trap}, {"sw1", network.LLDPRemTablesChange}, {"sw2", network.LLDPRemTablesChange}} {
			from, trap, third := traps.next(t)
			node, err := n.Node(want.node)
			if err != nil {
				t.Fatal(err)
			}
			if from != node.Server.Addr() || trap != want.trap {
				t.Errorf("trap %s from %s, want %s from %s", trap, from, want.trap, want.node)
			}
			if trap == c.trap && third != "0x2:1" {
				t.Errorf("the third variable binding is %s, want ifIndex 1", third)
			}
		}
	}
}

func TestAuthenticationFailureTrap(t *testing.T) {
	traps, target := listen(t)
	n := start(t, network.Options{Topology: "chain:1", Targets: nil})
	n.SetTargets(target)
	g := open(t, n, "sw1")
	g.Community, g.Timeout, g.Retries = "wrong", 100*time.Millisecond, 0
	if _, err := g.Get([]string{"1.3.6.1.2.1.1.1.0"}); err == nil {
		t.Error("a wrong community is answered")
	}
	if _, trap, _ := traps.next(t); trap != network.AuthenticationFailure {
		t.Errorf("trap %s", trap)
	}
	if err := n.Trap("sw1", network.ColdStart); err != nil {
		t.Fatal(err)
	}
	if _, trap, _ := traps.next(t); trap != network.ColdStart {
		t.Errorf("trap %s", trap)
	}
}

// Every switch knows where every station is, over the tree that forwards.
func TestStationsAreLearned(t *testing.T) {
	n := start(t, network.Options{Topology: "ring:5"})
	for _, node := range n.Nodes() {
		for _, other := range n.Nodes() {
			for _, h := range other.Hosts {
				port, known := node.Where(1, h.MAC)
				if !known || (port == h.Port) != (node == other) {
					t.Errorf("%s has %s at port %d, %v", node.Name(), h.MAC, port, known)
				}
			}
		}
	}
	arp := column(t, open(t, n, "sw1"), "1.3.6.1.2.1.4.22.1.2")
	if got := len(arp); got != 2 || !slices.Equal(arp["5121.10.99.0.2"].Value.([]byte), []byte{2, 0, 0, 0, 0, 2}) {
		t.Errorf("ARP table %v", arp)
	}
}

func TestSetFaults(t *testing.T) {
	n := start(t, network.Options{Topology: "chain:2"})
	if err := n.SetFaults("sw2", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	g := open(t, n, "sw2")
	g.Timeout, g.Retries = 100*time.Millisecond, 0
	if _, err := g.Get([]string{"1.3.6.1.2.1.1.1.0"}); err == nil {
		t.Error("a silent switch answers")
	}
	if len(discovered(t, n, "sw1")) != 1 {
		t.Error("the other switch suffers")
	}
	if n.SetFaults("sw3", faults.Set{}) == nil {
		t.Error("a switch there is not takes faults")
	}
}
