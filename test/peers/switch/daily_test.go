//go:build peers

package switchpeers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/plugintest"

	"ctl.internal/test/harness"
)

// row is an entry of what a command shows as JSON; it has the members of all commands that are asked here.
type row struct {
	Switch    string   `json:"switch"`
	Port      string   `json:"port"`
	State     string   `json:"state"`
	PVID      int      `json:"pvid"`
	VLAN      int      `json:"vlan-id"`
	Name      string   `json:"vlan-name"`
	Tagged    []string `json:"tagged-port"`
	Untagged  []string `json:"untagged-port"`
	MAC       string   `json:"mac-address"`
	IP        string   `json:"ip-address"`
	How       string   `json:"how"`
	Neighbor  any      `json:"neighbor"`
	Placed    bool     `json:"placed"`
	Change    string   `json:"change"`
	Root      string   `json:"root"`
	OutErrors *uint64  `json:"out-errors"`
}

// typed runs a command with one argument and returns its entries, of a list or of an array; those of which f holds.
func typed(ctx context.Context, t *testing.T, p *plugintest.Plugin, command, arg string, options map[string]string, f func(row) bool) []row {
	t.Helper()
	var out, errs bytes.Buffer
	err := commands.NewClient(p.Conn).Execute(context.WithoutCancel(ctx), &commands.Invocation{Name: command, Positional: []string{arg},
		Options: options, Format: "json", Stdin: commands.NoInput, Stdout: &out, Stderr: &errs})
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, arg, err, &errs)
	}
	var list []row
	if bytes.HasPrefix(out.Bytes(), []byte("[")) {
		err = json.Unmarshal(out.Bytes(), &list)
	} else {
		var all struct {
			Entries *[]row `json:"entry"`
		}
		if err = json.Unmarshal(out.Bytes(), &all); err == nil && all.Entries == nil {
			err = fmt.Errorf("no entries")
		} else if err == nil {
			list = *all.Entries
		}
	}
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, arg, err, &out)
	}
	return slices.DeleteFunc(list, func(r row) bool { return !f(r) })
}

// daily checks the commands that name switches and ports, while h1 of each switch is in VLAN 100 and has spoken.
func (c *chain) daily() {
	c.t.Helper()
	first, second, mac := c.pre+"1", c.pre+"2", links(c.t, c.pre+"1h1")["eth0"].MAC
	only := func(what, command, arg string, options map[string]string, choose, right func(row) bool) {
		c.t.Helper()
		patiently(c.ctx, c.t, func() string { // the agent shows a table of a moment ago
			if got := typed(c.ctx, c.t, c.Plugin, command, arg, options, choose); len(got) != 1 || !right(got[0]) {
				return fmt.Sprintf("%s: %s %s %v shows %+v", what, command, arg, options, got)
			}
			return ""
		})
	}
	at := func(port string) func(row) bool { return func(r row) bool { return r.Port == port } }
	var found any
	patiently(c.ctx, c.t, func() string { // lldpd reports after a while
		shell(context.WithoutCancel(c.ctx), c.t, c.Plugin, "switch:TopoDiscover", nil, &found)
		if got := typed(c.ctx, c.t, c.Plugin, "switch:neighbors", first, nil, at("t1")); len(got) != 1 || !got[0].Placed || got[0].Neighbor != second {
			return fmt.Sprintf("switch:neighbors %s shows %+v at t1", first, got)
		}
		return ""
	})
	only("a host's port", "switch:ports", first, map[string]string{"port": "h1"}, at("h1"), func(r row) bool { return r.State == "up" && r.PVID == 100 })
	only("a trunk", "switch:ports", first, nil, at("t1"), func(r row) bool { return strings.Contains(fmt.Sprint(r.Neighbor), second) })
	only("the VLAN", "switch:vlans", first, map[string]string{"vlan": "100"}, func(row) bool { return true }, func(r row) bool {
		return r.Name == "lab" && slices.Equal(r.Tagged, []string{"t1"}) && slices.Equal(r.Untagged, []string{"h1"})
	})
	c.reach("the host speaks", 1, 1, 2, 1, true)
	only("the host", "switch:fdb", first, map[string]string{"vlan": "100", "mac": mac}, func(row) bool { return true }, func(r row) bool { return r.Port == "h1" && r.MAC == mac })
	for port, how := range map[string]string{"h1": "edge", "t2": "link"} {
		only("where the host is", "switch:find", mac, nil, func(r row) bool { return r.How == how && r.VLAN == 100 }, at(port))
	}
	host := c.pre + "1h2"
	if out, err := exec.CommandContext(harness.Deadline(c.t), "ip", "-n", host, "link", "set", "eth0", "down").CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
	defer func() {
		if out, err := exec.CommandContext(harness.Deadline(c.t), "ip", "-n", host, "link", "set", "eth0", "up").CombinedOutput(); err != nil {
			c.t.Errorf("%v\n%s", err, out)
		}
	}()
	patiently(c.ctx, c.t, func() string {
		shell(context.WithoutCancel(c.ctx), c.t, c.Plugin, "switch:TopoDiscover", nil, &found)
		got := typed(c.ctx, c.t, c.Plugin, "switch:history", first, nil, func(r row) bool { return r.Change == "port down" && r.Port == "h2" && r.Switch == first })
		if len(got) == 0 {
			return "switch:history does not show that h2 went down"
		}
		return ""
	})
}

// tables checks switch:stp, switch:arp and switch:counters of a bridge against the kernel.
func tables(ctx context.Context, t *testing.T, p *plugintest.Plugin, name, address, mac string) {
	t.Helper()
	any := func(row) bool { return true }
	patiently(ctx, t, func() string {
		shown := map[string]string{}
		for _, r := range typed(ctx, t, p, "switch:stp", name, nil, any) {
			shown[r.Port] = strings.ToLower(r.State)
		}
		for port, k := range bridgePorts(t, name) {
			if shown[port] != k.Info.Data.State {
				return fmt.Sprintf("switch:stp %s shows %v; the kernel has %s at %s", name, shown, k.Info.Data.State, port)
			}
		}
		return ""
	})
	if got := typed(ctx, t, p, "switch:arp", name, map[string]string{"mac": mac}, any); len(got) != 1 || got[0].IP != address {
		t.Errorf("switch:arp %s --mac %s shows %+v, want %s", name, mac, got, address)
	}
	got := typed(ctx, t, p, "switch:counters", name, nil, func(r row) bool { return r.OutErrors != nil })
	if ports := len(bridgePorts(t, name)); len(got) < ports {
		t.Errorf("switch:counters %s shows %d ports with counters, want the %d of the bridge", name, len(got), ports)
	}
}
