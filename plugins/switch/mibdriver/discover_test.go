package mibdriver_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"

	"github.com/google/go-cmp/cmp"
)

func access(port uint16) *pluginv1.SnmpAccess {
	return &pluginv1.SnmpAccess{Port: uint32(port), Version: "2c", ReadCommunity: "public", WriteCommunity: "private"}
}

// observe reads all switches and builds the network.
func observe(t *testing.T, d *mibdriver.Driver, switches []*switchdriver.Switch) ([]*discovery.Observation, *discovery.Network) {
	t.Helper()
	var obs []*discovery.Observation
	for _, sw := range switches {
		o, err := d.Observe(deadline(t), sw)
		if err != nil {
			t.Fatalf("%s: %v", sw.Model, err)
		}
		obs = append(obs, o)
	}
	return obs, discovery.Build(obs, time.Unix(0, 0))
}

// cables names each link between switches of the list once.
func cables(n *discovery.Network) []string {
	var out []string
	for _, e := range n.Edges {
		if e.Tail.Kind == discovery.SNMP && !slices.Contains(out, cable(n, e.Head, e.Tail, e.Confirmed)) {
			out = append(out, cable(n, e.Tail, e.Head, e.Confirmed))
		}
	}
	slices.Sort(out)
	return out
}

func cable(n *discovery.Network, a, b discovery.End, confirmed bool) string {
	s := joined(model(n, a.Node)+"/"+a.Port, model(n, b.Node)+"/"+b.Port)
	if !confirmed {
		s += " (one end)"
	}
	return s
}

// joined names a cable by its ends, whichever is reported first.
func joined(a, b string) string { return min(a, b) + " - " + max(a, b) }

func model(n *discovery.Network, id string) string {
	for _, node := range n.Nodes {
		if node.ID == id {
			return strings.TrimSuffix(node.Model, ".snmprec")
		}
	}
	return id
}

// The ground truth of the D-Link site: four links, each reported by both ends.
func TestRecordedSite(t *testing.T) {
	dir := recordings(t)
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	var switches []*switchdriver.Switch
	for _, r := range [][2]string{
		{"dlink_dgs-3627g", "00:1e:58:5c:09:00"}, {"dlink_dgs-3420-28tc", "10:62:eb:b0:c6:00"},
		{"dlink_dgs-1510-28xmp-me", "18:0f:76:0c:bb:a0"}, {"dlink_dgs-1510-28x-me", "40:9b:cd:db:32:40"},
		{"dlink_des-3526", "00:15:e9:3e:15:1a"}, {"zynos_mgs3712", "40:4a:03:40:1c:a3"},
	} {
		switches = append(switches, play(t, h, filepath.Join(dir, r[0]+".snmprec"), r[1]))
	}
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	obs, n := observe(t, mibdriver.New(c), switches)
	want := []string{
		"dlink_des-3526/25 - dlink_dgs-3627g/2",
		"dlink_dgs-3420-28tc/25 - dlink_dgs-3627g/3",
		"dlink_dgs-1510-28x-me/25 - dlink_dgs-3627g/4",
		"dlink_dgs-1510-28xmp-me/25 - dlink_dgs-3627g/6",
	}
	slices.Sort(want)
	if d := cmp.Diff(want, cables(n)); d != "" {
		t.Error("links (-want +got):\n" + d)
	}
	ports := map[string]int{}
	for i, o := range obs {
		ports[strings.TrimSuffix(switches[i].Model, ".snmprec")] = len(o.Ports)
	}
	if d := cmp.Diff(map[string]int{"dlink_dgs-3627g": 27, "dlink_dgs-3420-28tc": 28, "dlink_dgs-1510-28xmp-me": 28,
		"dlink_dgs-1510-28x-me": 28, "dlink_des-3526": 26, "zynos_mgs3712": 12}, ports); d != "" {
		t.Error("ports (-want +got):\n" + d)
	}
	outside := 0
	for _, e := range n.Edges {
		if e.Tail.Kind == discovery.PR {
			outside++
		}
	}
	if want := 13 + 1 + 1 + 4; outside != want { // 3627G, DES-3526, 1510-28X, MGS-3712
		t.Errorf("%d edges from outside the list, want %d", outside, want)
	}
	for _, u := range n.Unresolved {
		t.Errorf("unresolved: %+v", u)
	}
}

// Every profile of the lab, with its oddities, joined in a ring.
func TestEveryProfile(t *testing.T) {
	var models []string
	for _, p := range simswitch.Profiles() {
		models = append(models, p.Model)
	}
	lab := newLab(t, network.Options{Topology: fmt.Sprintf("ring:%d", len(models)), Models: models, Ports: 28})
	_, n := observe(t, lab.driver, lab.switches)
	if d := cmp.Diff(truth(lab.Network), cables(n)); d != "" {
		t.Error("links (-want +got):\n" + d)
	}
	for _, u := range n.Unresolved {
		t.Errorf("unresolved: %+v", u)
	}
}

// truth are the links of a simulated network.
func truth(n *network.Network) []string {
	var out []string
	for _, l := range n.Links() {
		a, _ := n.Node(l.A.Switch)
		b, _ := n.Node(l.B.Switch)
		out = append(out, joined(fmt.Sprintf("%s/%d", a.Profile().Model, l.A.Port), fmt.Sprintf("%s/%d", b.Profile().Model, l.B.Port)))
	}
	slices.Sort(out)
	return out
}

// Switches that misbehave in every way there is cost their own links at most:
// those of the others are found, and none is invented.
func TestMisbehavingSwitches(t *testing.T) {
	lab := newLab(t, network.Options{Topology: "ring:24"})
	for i, f := range []string{"silent", "garbage", "truncate", "wrongid", "loop", "wrongtype", "missing=1.0.8802", "missing=1.3.6.1.2.1.17",
		"huge", "toobig=2", "nobulk", "duplicate", "loss=40", "status=genErr", "missing=1.3.6.1.2.1.2+1.3.6.1.2.1.31"} {
		set, err := faults.Parse(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := lab.SetFaults(fmt.Sprintf("sw%d", i+2), set); err != nil {
			t.Fatal(err)
		}
	}
	obs := make([]*discovery.Observation, len(lab.switches))
	var wg sync.WaitGroup
	soon := hasty(t)
	for i, sw := range lab.switches {
		wg.Go(func() {
			d := lab.driver
			if i >= 1 && i <= 16 {
				d = soon
			}
			o, err := d.Observe(deadline(t), sw)
			if err == nil {
				obs[i] = o
			} else if i == 0 || i > 16 {
				t.Errorf("sw%d, which is healthy: %v", i+1, err)
			}
		})
	}
	wg.Wait()
	n := discovery.Build(slices.DeleteFunc(obs, func(o *discovery.Observation) bool { return o == nil }), time.Unix(0, 0))
	cabled := map[string]bool{}
	for _, l := range lab.Links() {
		cabled[joined(l.A.Switch+"/"+fmt.Sprint(l.A.Port), l.B.Switch+"/"+fmt.Sprint(l.B.Port))] = true
	}
	found := 0
	for _, e := range n.Edges {
		if e.Tail.Kind != discovery.SNMP {
			continue
		}
		found++
		if name := joined(label(e.Tail), label(e.Head)); !cabled[name] {
			t.Errorf("invented: %s", name)
		}
	}
	if found < 2*8 { // sw17 to sw24 and sw1 are healthy
		t.Errorf("only %d edges", found)
	}
}

// label names an end by its switch's place in the lab: MAC addresses count from 1.
func label(e discovery.End) string {
	var n uint64
	if _, err := fmt.Sscan(e.Node, &n); err != nil {
		return e.Node
	}
	return fmt.Sprintf("sw%d/%s", n&0xffff, e.Port)
}
