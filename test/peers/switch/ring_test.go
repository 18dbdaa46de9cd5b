//go:build peers

package switchpeers

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/plugintest"

	"ctl.internal/test/harness"
)

type edgeList struct {
	Entries []struct {
		HeadPort string `json:"head-node-connector-id"`
		HeadNode string `json:"head-node-id"`
		HeadType string `json:"head-node-type"`
		TailPort string `json:"tail-node-connector-id"`
		TailNode string `json:"tail-node-id"`
		TailType string `json:"tail-node-type"`
	} `json:"edge-list-entry"`
}

// found are the edges the plugin reports, "node/port>node/port".
func found(ctx context.Context, t *testing.T, p *plugintest.Plugin, names map[string]string) []string {
	t.Helper()
	var list edgeList
	if err := p.Call(ctx, "topology:get-edge-list", nil, &list); err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range list.Entries {
		out = append(out, fmt.Sprintf("%s %s/%s>%s %s/%s", e.TailType, names[e.TailNode], e.TailPort, e.HeadType, names[e.HeadNode], e.HeadPort))
	}
	slices.Sort(out)
	return out
}

// truth are the edges as the kernel knows them: veth pairs whose ends are both in
// a switch's namespace, and up.
func truth(t *testing.T, switches []string) []string {
	t.Helper()
	all := map[string]map[string]link{}
	for _, s := range switches {
		all[s] = links(t, s)
	}
	out := []string{}
	for _, s := range switches {
		spaces := neighbours(t, s)
		for _, l := range all[s] {
			if l.PeerNet == nil || l.State != "UP" {
				continue
			}
			peer := spaces[*l.PeerNet]
			for _, far := range all[peer] {
				if far.Index == l.Peer && far.State == "UP" {
					out = append(out, fmt.Sprintf("SNMP %s/%d>SNMP %s/%d", s, l.Index, peer, far.Index))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// A ring of devices with LLDP: what is discovered is what the kernel has connected,
// edge by edge, also when a cable is cut and mended. Half of them speak version 3.
func TestRing(t *testing.T) {
	need(t, "ip", "snmpd", "lldpd", "lldpcli", "snmpbulkwalk", "unshare", "setsid")
	pre, net := prefix(t, "r"), subnet(t, 199)
	lab(t, "lab-lldp.sh", "LAB_NODES=5", "LAB_PREFIX="+pre, "LAB_NET="+net)
	var devices []device
	var names []string
	ids := map[string]string{}
	for i := 1; i <= 5; i++ {
		name := fmt.Sprint(pre, i)
		d := device{name: name, address: fmt.Sprintf("%s.%d", net, i), mac: links(t, name)["mgmt"].MAC, rest: "public,net-snmp,2c"}
		if i%2 == 0 {
			d.rest = ",net-snmp,3,ops,SHA-256,authpass123,AES,privpass123"
		}
		devices, names = append(devices, d), append(names, name)
		ids[fmt.Sprint(number(t, d.mac))] = name
	}
	p := plugin(t, devices)
	ctx := long(t)
	for _, state := range []string{"", "down", "up"} {
		if state != "" {
			if out, err := exec.CommandContext(harness.Deadline(t), "ip", "-n", names[0], "link", "set", "e1", state).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		// The kernel reports a link up a moment after it was set so: its truth must be the new one too.
		ends := map[string]int{"": 10, "down": 8, "up": 10}[state]
		until(ctx, t, p, func() string {
			kernel := truth(t, names)
			if len(kernel) != ends {
				return fmt.Sprintf("the kernel has %d ends up after %s, want %d", len(kernel), state, ends)
			}
			return cmp.Diff(kernel, found(context.WithoutCancel(ctx), t, p, ids))
		})
	}
}

// until discovers again and again until nothing differs.
func until(ctx context.Context, t *testing.T, p *plugintest.Plugin, differs func() string) {
	t.Helper()
	patiently(ctx, t, func() string {
		if out, err := p.Shell(context.WithoutCancel(ctx), "switch:TopoDiscover", nil, nil); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return differs()
	})
}
