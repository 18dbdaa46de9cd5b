//go:build peers

package switchpeers

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/plugintest"

	"ctl.internal/test/harness"
)

// bridgePort is a port of a Linux bridge as `ip -j -d link` tells it.
type bridgePort struct {
	link
	Info struct {
		Kind string `json:"info_slave_kind"`
		Data struct {
			State  string `json:"state"`
			Number string `json:"no"` // "0x1"
			Root   string `json:"root_id"`
			Bridge string `json:"bridge_id"` // designated
			Port   int    `json:"designated_port"`
		} `json:"info_slave_data"`
	} `json:"linkinfo"`
}

// number is dot1dBasePort: the kernel's number without the priority.
func (b bridgePort) number(t *testing.T) int {
	t.Helper()
	n, err := strconv.ParseUint(b.Info.Data.Number, 0, 16)
	if err != nil {
		t.Fatal(err)
	}
	return int(n & 0x3ff)
}

// bridgePorts are the ports of the bridge in a namespace, by name.
func bridgePorts(t *testing.T, ns string) map[string]bridgePort {
	t.Helper()
	var all []bridgePort
	ipJSON(t, &all, "-n", ns, "-j", "-d", "link", "show", "master", "br0")
	out := map[string]bridgePort{}
	for _, p := range all {
		out[p.Name] = p
	}
	return out
}

// bridged is truth with the numbers of bridge ports.
func bridged(t *testing.T, switches []string) []string {
	t.Helper()
	byIndex := map[string]string{}
	for _, s := range switches {
		for _, p := range bridgePorts(t, s) {
			byIndex[fmt.Sprintf("%s/%d", s, p.Index)] = fmt.Sprintf("%s/%d", s, p.number(t))
		}
	}
	var out []string
	for _, s := range switches {
		spaces := neighbours(t, s)
		for _, l := range links(t, s) {
			a, ok := byIndex[fmt.Sprintf("%s/%d", s, l.Index)]
			if !ok || l.PeerNet == nil || l.State != "UP" {
				continue
			}
			if b, ok := byIndex[fmt.Sprintf("%s/%d", spaces[*l.PeerNet], l.Peer)]; ok {
				out = append(out, fmt.Sprintf("SNMP %s>SNMP %s", a, b))
			}
		}
	}
	slices.Sort(out)
	return out
}

// mute is a ring of Linux bridges with spanning tree and BRIDGE-MIB, and no LLDP.
func mute(t *testing.T, nodes int, letter string, second int) (names []string, ids map[string]string, net string, p *plugintest.Plugin) {
	t.Helper()
	need(t, "ip", "bridge", "snmpd", "lldpd", "lldpcli", "snmpbulkwalk", "unshare", "setsid", "/usr/bin/python3")
	pre := prefix(t, letter)
	net = subnet(t, second)
	lab(t, "lab-lldp.sh", fmt.Sprint("LAB_NODES=", nodes), "LAB_PREFIX="+pre, "LAB_NET="+net, "LAB_BRIDGE=yes", "LAB_LLDP=no")
	var devices []device
	ids = map[string]string{}
	for i := 1; i <= nodes; i++ {
		name := fmt.Sprint(pre, i)
		d := device{name: name, address: fmt.Sprintf("%s.%d", net, i), mac: links(t, name)["mgmt"].MAC, rest: "public,Linux,2c"}
		devices, names = append(devices, d), append(names, name)
		ids[fmt.Sprint(number(t, d.mac))] = name
	}
	return names, ids, net, plugin(t, devices)
}

// settled waits until the spanning tree of a ring has settled: one port blocks, all
// others forward, and all bridges agree on the root.
func settled(ctx context.Context, t *testing.T, names []string) {
	t.Helper()
	patiently(ctx, t, func() string {
		states, roots := map[string]int{}, map[string]bool{}
		for _, n := range names {
			for _, p := range bridgePorts(t, n) {
				states[p.Info.Data.State]++
				roots[p.Info.Data.Root] = true
			}
		}
		if len(roots) == 1 && states["blocking"] == 1 && states["forwarding"] == 2*len(names)-1 {
			return ""
		}
		return fmt.Sprintf("port states %v, roots %v", states, roots)
	})
}

// Bridges without LLDP: what the spanning tree tells is what the kernel has
// connected, the blocked cable included, also after one is cut.
func TestInferenceFromSpanningTree(t *testing.T) {
	names, ids, _, p := mute(t, 4, "m", 194)
	ctx := long(t)
	settled(ctx, t, names)
	compare := func() string {
		return cmp.Diff(bridged(t, names), found(context.WithoutCancel(ctx), t, p, ids))
	}
	until(ctx, t, p, compare)
	var edges []struct {
		Source    string `json:"source"`
		Confirmed bool   `json:"confirmed"`
	}
	shell(ctx, t, p, "switch:edges", nil, &edges)
	for _, e := range edges {
		if e.Source != "stp" || e.Confirmed {
			t.Errorf("an inferred edge is shown as %+v", e)
		}
	}
	if len(edges) != len(names) {
		t.Errorf("%d cables, want %d", len(edges), len(names))
	}
	if out, err := exec.CommandContext(harness.Deadline(t), "ip", "-n", names[0], "link", "set", "e1", "down").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	until(ctx, t, p, func() string {
		if kernel := bridged(t, names); len(kernel) != 2*len(names)-2 {
			return fmt.Sprintf("the kernel has %d ends up", len(kernel))
		}
		return compare()
	})
}
