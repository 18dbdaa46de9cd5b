//go:build peers

package switchpeers

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/plugintest"

	"ctl.internal/test/harness"
)

// arpRow is a row of `ip -j neigh`.
type arpRow struct {
	Address string   `json:"dst"`
	MAC     string   `json:"lladdr"`
	State   []string `json:"state"`
}

// kernelARP is the kernel's table of a namespace, "address mac".
func kernelARP(t *testing.T, ns string) []string {
	t.Helper()
	var rows []arpRow
	ipJSON(t, &rows, "-n", ns, "-4", "-j", "neigh", "show", "dev", "mgmt")
	out := []string{}
	for _, r := range rows {
		if r.MAC != "" && !slices.Contains(r.State, "FAILED") && !slices.Contains(r.State, "INCOMPLETE") {
			out = append(out, r.Address+" "+r.MAC)
		}
	}
	slices.Sort(out)
	return out
}

// shownARP is what the RPC answers.
func shownARP(ctx context.Context, t *testing.T, p *plugintest.Plugin, node int64) []string {
	t.Helper()
	var table struct {
		Entries []struct {
			Address string `json:"ip-address"`
			MAC     int64  `json:"mac-address"`
		} `json:"arp-table-entry"`
	}
	if err := p.Call(ctx, "misc-config:get-arp-table", map[string]any{"node-id": node}, &table); err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range table.Entries {
		out = append(out, fmt.Sprintf("%s %s", e.Address, mib.MAC(e.MAC)))
	}
	slices.Sort(out)
	return out
}

// The states and the root of the spanning tree, and the ARP tables, are the kernel's.
func TestSpanningTreeAndARP(t *testing.T) {
	names, ids, net, p := mute(t, 4, "n", 193)
	ctx := long(t)
	settled(ctx, t, names)
	nodes := map[string]int64{}
	for id, name := range ids {
		var n int64
		if _, err := fmt.Sscan(id, &n); err != nil {
			t.Fatal(err)
		}
		nodes[name] = n
	}
	// What the agent tells is a moment old; the tree has settled, so both come to agree.
	patiently(ctx, t, func() string {
		var kernel, shown []string
		for _, name := range names {
			for _, port := range bridgePorts(t, name) {
				at := fmt.Sprintf("%s/%d", name, port.number(t))
				root, err := mib.ParseMAC(port.Info.Data.Root[strings.Index(port.Info.Data.Root, ".")+1:])
				if err != nil {
					t.Fatal(err)
				}
				kernel = append(kernel, fmt.Sprintf("%s %s %s", at, strings.ToUpper(port.Info.Data.State), root))
				in := map[string]any{"node-id": nodes[name], "port": port.number(t)}
				var state struct {
					State string `json:"stp-port-state"`
				}
				var far struct {
					Root int64 `json:"root-node-id"`
				}
				if err := p.Call(context.WithoutCancel(ctx), "misc-config:get-stp-port-state", in, &state); err != nil {
					t.Fatal(err)
				}
				if err := p.Call(context.WithoutCancel(ctx), "misc-config:get-stp-port-root", in, &far); err != nil {
					t.Fatal(err)
				}
				shown = append(shown, fmt.Sprintf("%s %s %s", at, state.State, mib.MAC(far.Root)))
			}
		}
		slices.Sort(kernel)
		slices.Sort(shown)
		return cmp.Diff(kernel, shown)
	})

	address := net + ".77"
	if out, err := exec.CommandContext(harness.Deadline(t), "ip", "-n", names[0], "neigh", "add", address, "lladdr", "02:aa:bb:cc:dd:ee", "dev", "mgmt", "nud", "permanent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range names {
		patiently(ctx, t, func() string {
			return cmp.Diff(kernelARP(t, name), shownARP(context.WithoutCancel(ctx), t, p, nodes[name]))
		})
	}
	if !slices.Contains(shownARP(ctx, t, p, nodes[names[0]]), address+" 02:aa:bb:cc:dd:ee") {
		t.Error("the entry that was added is not shown")
	}
	var one struct {
		MAC int64 `json:"mac-address"`
	}
	if err := p.Call(ctx, "misc-config:get-arp-entry", map[string]any{"node-id": nodes[names[0]], "ip-address": address}, &one); err != nil || mib.MAC(one.MAC) != 0x02aabbccddee {
		t.Errorf("the entry by itself: %s %v", mib.MAC(one.MAC), err)
	}
	tables(ctx, t, p, names[0], address, "02:aa:bb:cc:dd:ee")
}
