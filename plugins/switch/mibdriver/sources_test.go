package mibdriver_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

// edgesBy lists the links between switches of the list, each with what reported it.
func edgesBy(n *discovery.Network) []string {
	var out []string
	for _, e := range n.Edges {
		if e.Tail.Kind != discovery.SNMP {
			continue
		}
		s := joined(label(e.Tail), label(e.Head)) + " " + e.Source
		if e.Confirmed {
			s += " confirmed"
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// withEvidence does what a discovery does when some switches are mute.
func withEvidence(t *testing.T, lab *bench, obs []*discovery.Observation) *discovery.Network {
	t.Helper()
	want := map[mib.MAC]bool{}
	for _, o := range obs {
		want[o.Node] = true
	}
	for i, sw := range lab.switches {
		e, err := lab.driver.Evidence(deadline(t), sw, obs[i], want)
		if err != nil {
			t.Fatal(err)
		}
		obs[i].Evidence = e
	}
	return discovery.Build(obs, time.Unix(0, 0))
}

// Every way to show neighbours, alone and against each other.
func TestEverySource(t *testing.T) {
	for name, c := range map[string]struct {
		topology string
		shows    []simswitch.Discovery
		want     []string
	}{
		"LLDP-MIB":    {"chain:3", []simswitch.Discovery{simswitch.LLDP}, []string{"sw1/1 - sw2/1 lldp confirmed", "sw2/2 - sw3/1 lldp confirmed"}},
		"LLDP-V2-MIB": {"chain:3", []simswitch.Discovery{simswitch.LLDPV2}, []string{"sw1/1 - sw2/1 lldp-v2 confirmed", "sw2/2 - sw3/1 lldp-v2 confirmed"}},
		"CDP":         {"chain:3", []simswitch.Discovery{simswitch.CDP}, []string{"sw1/1 - sw2/1 cdp confirmed", "sw2/2 - sw3/1 cdp confirmed"}},
		"LLDP and CDP at once": {"chain:3", []simswitch.Discovery{simswitch.Both},
			[]string{"sw1/1 - sw2/1 lldp confirmed", "sw2/2 - sw3/1 lldp confirmed"}},
		"LLDP against LLDP-V2": {"chain:2", []simswitch.Discovery{simswitch.LLDP, simswitch.LLDPV2}, []string{"sw1/1 - sw2/1 lldp confirmed"}},
		"LLDP against CDP":     {"chain:2", []simswitch.Discovery{simswitch.LLDP, simswitch.CDP}, []string{"sw1/1 - sw2/1 lldp confirmed"}},
		// A mute switch is reported by its neighbours, by one end only.
		"one mute between two that speak": {"chain:3", []simswitch.Discovery{simswitch.LLDP, simswitch.Mute},
			[]string{"sw1/1 - sw2/1 lldp", "sw2/2 - sw3/1 lldp"}},
		// Nobody tells anything: the spanning tree does, blocked links included.
		"all mute, a ring": {"ring:4", []simswitch.Discovery{simswitch.Mute},
			[]string{"sw1/1 - sw2/1 stp", "sw1/2 - sw4/2 stp", "sw2/2 - sw3/1 stp", "sw3/2 - sw4/1 stp"}},
	} {
		t.Run(name, func(t *testing.T) {
			lab := newLab(t, network.Options{Topology: c.topology, Discovery: c.shows, Ports: 8})
			obs, n := observe(t, lab.driver, lab.switches)
			if slices.ContainsFunc(obs, (*discovery.Observation).Mute) {
				n = withEvidence(t, lab, obs)
			}
			if d := cmp.Diff(c.want, edgesBy(n)); d != "" {
				t.Error("links (-want +got):\n" + d)
			}
			for _, u := range n.Unresolved {
				t.Errorf("unresolved: %+v", u)
			}
			for _, node := range n.Nodes {
				if node.Kind == discovery.PR {
					t.Errorf("a switch of the list is taken for a device outside it: %+v", node)
				}
			}
		})
	}
}

// Without spanning tree the forwarding tables decide.
func TestForwardingTables(t *testing.T) {
	lab := newLab(t, network.Options{Topology: "chain:4", Discovery: []simswitch.Discovery{simswitch.Mute}, Ports: 8})
	for i := 1; i <= 4; i++ {
		set, err := faults.Parse("missing=1.3.6.1.2.1.17.2")
		if err != nil {
			t.Fatal(err)
		}
		if err := lab.SetFaults(fmt.Sprintf("sw%d", i), set); err != nil {
			t.Fatal(err)
		}
	}
	obs, _ := observe(t, lab.driver, lab.switches)
	want := []string{"sw1/1 - sw2/1 fdb", "sw2/2 - sw3/1 fdb", "sw3/2 - sw4/1 fdb"}
	if d := cmp.Diff(want, edgesBy(withEvidence(t, lab, obs))); d != "" {
		t.Error("links (-want +got):\n" + d)
	}
}

// refreshed reads a switch as a periodic discovery does.
func refreshed(t *testing.T, lab *bench, i int, old *discovery.Observation, neighbors bool) (*discovery.Observation, uint64) {
	t.Helper()
	before := lab.Nodes()[i].Server.Agent().Stats().Requests
	o, err := lab.driver.Refresh(deadline(t), lab.switches[i], old, neighbors)
	if err != nil {
		t.Fatal(err)
	}
	return o, lab.Nodes()[i].Server.Agent().Stats().Requests - before
}

// What has not changed is not read: few requests, and the same result as reading all.
func TestRefresh(t *testing.T) {
	for _, shows := range []simswitch.Discovery{simswitch.LLDP, simswitch.LLDPV2, simswitch.CDP} {
		t.Run(string(shows), func(t *testing.T) {
			now := newClock()
			lab := newLab(t, network.Options{Topology: "chain:3", Discovery: []simswitch.Discovery{shows}, Clock: now.read})
			now.pass(2 * time.Second) // the neighbours have been there for a while
			observeAt := func() (*discovery.Observation, uint64) {
				before := lab.Nodes()[1].Server.Agent().Stats().Requests
				o, err := lab.driver.Observe(deadline(t), lab.switches[1])
				if err != nil {
					t.Fatal(err)
				}
				return o, lab.Nodes()[1].Server.Agent().Stats().Requests - before
			}
			compare := func(what string, got *discovery.Observation) {
				t.Helper()
				want, _ := observeAt()
				for _, o := range []*discovery.Observation{want, got} {
					if o.Notes != nil {
						t.Errorf("%s: notes %q", what, o.Notes)
					}
				}
				if d := cmp.Diff(plain(want), plain(got)); d != "" {
					t.Errorf("%s (-read whole +read in part):\n%s", what, d)
				}
			}
			o, whole := observeAt()
			o, part := refreshed(t, lab, 1, o, false)
			if part >= whole || part*2 > whole && shows != simswitch.CDP { // CDP reports no time of change
				t.Errorf("%d requests in part, %d whole", part, whole)
			}
			compare("nothing changed", o)
			if err := lab.SetLink("sw2", "sw3", false); err != nil {
				t.Fatal(err)
			}
			o, _ = refreshed(t, lab, 1, o, false)
			if len(o.Neighbors) != 1 {
				t.Errorf("%d neighbours after a cable was cut", len(o.Neighbors))
			}
			compare("a cable was cut", o)
			// In the same hundredth of a second: the note of the change is the one just read.
			if err := lab.SetLink("sw2", "sw3", true); err != nil {
				t.Fatal(err)
			}
			o, _ = refreshed(t, lab, 1, o, false)
			compare("it was mended at once", o)
			if err := lab.Restart("sw2"); err != nil {
				t.Fatal(err)
			}
			o, _ = refreshed(t, lab, 1, o, false)
			compare("the switch has restarted", o)
		})
	}
}

// clock stands still until time is let pass.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Now().UnixNano())
	return c
}

func (c *clock) read() time.Time      { return time.Unix(0, c.nanos.Load()) }
func (c *clock) pass(d time.Duration) { c.nanos.Add(int64(d)) }

// plain is what both ways of reading must agree on.
func plain(o *discovery.Observation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", o.SysName, o.Chassis, o.Device)
	for _, p := range o.Ports {
		fmt.Fprintf(&b, "%+v\n", p)
	}
	for _, n := range o.Neighbors {
		fmt.Fprintf(&b, "%+v\n", n)
	}
	return b.String()
}

// An agent whose note does not move although its neighbours did is not believed again.
// Another switch that is at the address now, and another name, are noticed by a quick
// reading too.
func TestRefreshOfAnother(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2"})
	old, err := b.driver.Observe(deadline(t), b.switches[0])
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddr(b.switches[0].Address)
	w := snmp.Target{Addr: netip.AddrPortFrom(at, uint16(b.switches[0].Snmp.Port)), Community: "private"}
	if err := b.client.Set(deadline(t), w, snmp.Octets(mib.SysName, []byte("renamed"))); err != nil {
		t.Fatal(err)
	}
	if o, err := b.driver.Refresh(deadline(t), b.switches[0], old, false); err != nil || o.SysName != "renamed" || o.Bridge != old.Bridge {
		t.Errorf("renamed: %v, %v", o, err)
	}
	moved := proto.CloneOf(b.switches[1])
	moved.NodeId = b.switches[0].NodeId
	if o, err := b.driver.Refresh(deadline(t), moved, old, false); err != nil || uint64(o.Bridge) != b.switches[1].NodeId || uint64(o.Node) != moved.NodeId {
		t.Errorf("another switch: %v, %v", o, err)
	}
}

func TestDoubtfulNote(t *testing.T) {
	now := newClock()
	lab := newLab(t, network.Options{Topology: "chain:2", Clock: now.read})
	now.pass(2 * time.Second)
	o, err := lab.driver.Observe(deadline(t), lab.switches[0])
	if err != nil {
		t.Fatal(err)
	}
	lying := *o
	lying.Neighbors = nil // as if they had come since
	got, _ := refreshed(t, lab, 0, &lying, false)
	if len(got.Neighbors) != 0 || got.Marks.Doubtful {
		t.Errorf("the switch said that nothing changed: %d neighbours", len(got.Neighbors))
	}
	got, _ = refreshed(t, lab, 0, &lying, true)
	if len(got.Neighbors) != 1 || !got.Marks.Doubtful {
		t.Errorf("%d neighbours, doubtful %v", len(got.Neighbors), got.Marks.Doubtful)
	}
	got.Neighbors = nil
	if got, _ = refreshed(t, lab, 0, got, false); len(got.Neighbors) != 1 {
		t.Error("a note that was wrong before is believed again")
	}
}
