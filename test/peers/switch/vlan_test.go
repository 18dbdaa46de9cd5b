//go:build peers

package switchpeers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
)

// chain is a chain of VLAN switches with two hosts each.
type chain struct {
	*plugintest.Plugin
	t        *testing.T
	ctx      context.Context
	pre      string
	hosts    string // their /24
	switches int
	node     []int64               // by switch, from 0
	port     []map[string]int      // bridge port by interface
	ifs      []map[string]link     // of the switch
	vlans    map[int]map[int][]int // by switch and VLAN
}

func newChain(t *testing.T, switches int) *chain {
	need(t, "ip", "snmpd", "lldpd", "snmpbulkwalk", "ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "perl", "ping", "ethtool")
	c := &chain{t: t, pre: prefix(t, "q"), hosts: subnet(t, 196), switches: switches}
	net := subnet(t, 197)
	lab(t, "lab-qbridge.sh", fmt.Sprint("LAB_SWITCHES=", switches), "LAB_PREFIX="+c.pre, "LAB_NET="+net, "LAB_HOSTS="+c.hosts)
	var devices []device
	for i := range switches {
		name := fmt.Sprint(c.pre, i+1)
		ifs := links(t, name)
		mac := ifs["mgmt"].MAC
		devices = append(devices, device{name: name, mac: mac, address: fmt.Sprintf("%s.%d", net, i+1), rest: "private,Open vSwitch,2c,,,,,,161,public"})
		c.node, c.ifs = append(c.node, number(t, mac)), append(c.ifs, ifs)
		c.port = append(c.port, ports(ifs))
	}
	c.ctx = long(t)
	c.Plugin = plugin(t, devices)
	return c
}

// ports numbers the bridge's interfaces in the order of ifIndex, as the agent does.
func ports(ifs map[string]link) map[string]int {
	var in []link
	for _, name := range []string{"h1", "h2", "t1", "t2"} {
		if l, ok := ifs[name]; ok {
			in = append(in, l)
		}
	}
	slices.SortFunc(in, func(a, b link) int { return a.Index - b.Index })
	out := map[string]int{}
	for i, l := range in {
		out[l.Name] = i + 1
	}
	return out
}

// list is a port list of an RPC.
func (c *chain) list(sw int, names ...string) string {
	var out []string
	for _, n := range names {
		if p, ok := c.port[sw][n]; ok {
			out = append(out, fmt.Sprint(p))
		}
	}
	return strings.Join(out, ",")
}

func (c *chain) must(rpc string, in map[string]any) {
	c.t.Helper()
	if err := c.Call(c.ctx, rpc, in, nil); err != nil {
		c.t.Fatalf("%s %v: %v", rpc, in, err)
	}
}

func (c *chain) reach(what string, i, j, k, l int, want bool) {
	c.t.Helper()
	reach(c.ctx, c.t, c.pre, c.hosts, what, i, j, k, l, want)
}

// table is the VLANs of a switch with their ports.
func (c *chain) table(sw int) map[int][]int {
	c.t.Helper()
	var out struct {
		Entries []struct {
			VLAN  int   `json:"vlan-id"`
			Ports []int `json:"port-list"`
		} `json:"vlan-table-entry"`
	}
	if err := c.Call(c.ctx, "vlan:get-vlan-table", map[string]any{"node-id": c.node[sw]}, &out); err != nil {
		c.t.Fatal(err)
	}
	m := map[int][]int{}
	for _, e := range out.Entries {
		m[e.VLAN] = e.Ports
	}
	return m
}

// VLANs made and removed by the RPCs, proved by what the hosts reach.
func TestVLANs(t *testing.T) {
	c := newChain(t, 2)
	c.reach("one VLAN", 1, 1, 2, 1, true)
	c.reach("one VLAN", 1, 1, 2, 2, true)
	for sw := range c.switches {
		c.must("vlan:add-vlan-and-set-ports", map[string]any{"node-id": c.node[sw], "vlan-id": 100, "vlan-name": "lab",
			"tagged-port-list": c.list(sw, "t1", "t2"), "untagged-port-list": c.list(sw, "h1")})
	}
	c.reach("VLAN 100 over tagged trunks", 1, 1, 2, 1, true)
	c.reach("VLAN 100 is apart", 1, 1, 1, 2, false)
	c.reach("VLAN 1 goes on", 1, 2, 2, 2, true)
	for sw := range c.switches {
		want := []int{c.port[sw]["h1"], c.port[sw]["t1"] + c.port[sw]["t2"]} // each has one trunk
		slices.Sort(want)
		if d := cmp.Diff(want, c.table(sw)[100]); d != "" {
			t.Errorf("VLAN 100 of switch %d (-want +got):\n%s", sw+1, d)
		}
	}
	c.forwarding()
	c.daily()
	if err := c.Call(c.ctx, "vlan:add-vlan", map[string]any{"node-id": c.node[0], "vlan-id": 100, "vlan-name": "again"}, nil); !errors.Is(err, &fault.Error{Kind: fault.Exists}) {
		t.Errorf("the VLAN made again: %v", err)
	}

	c.must("vlan:set-vlan-ports", map[string]any{"node-id": c.node[0], "vlan-id": 100,
		"tagged-port-list": c.list(0, "t1"), "untagged-port-list": c.list(0, "h1", "h2")})
	c.reach("h2 joined VLAN 100", 1, 1, 1, 2, true)
	c.reach("h2 left VLAN 1", 1, 2, 2, 2, false)

	for sw := range c.switches {
		c.must("vlan:delete-vlan", map[string]any{"node-id": c.node[sw], "vlan-id": 100})
		if d := cmp.Diff([]int{1, 2, 3}, c.table(sw)[1]); d != "" || len(c.table(sw)) != 1 {
			t.Errorf("switch %d after removing (-want +got):\n%s", sw+1, d)
		}
	}
	c.reach("one VLAN again", 1, 1, 1, 2, true)
	c.reach("one VLAN again", 1, 2, 2, 2, true)
}

// forwarding checks that the forwarding tables show the hosts that just spoke in
// VLAN 100, at their ports.
func (c *chain) forwarding() {
	c.t.Helper()
	mac := number(c.t, links(c.t, c.pre+"1h1")["eth0"].MAC)
	for sw, name := range []string{"h1", "t2"} {
		in := map[string]any{"node-id": c.node[sw], "vlan-id": 100, "dest-mac-addr": mac}
		var e struct {
			Port int    `json:"port"`
			VLAN int    `json:"vlan-id"`
			Type string `json:"type"`
		}
		patiently(c.ctx, c.t, func() string { // the agent shows a table of a moment ago
			if err := c.Call(context.WithoutCancel(c.ctx), "fdb:get-fdb-entry", in, &e); err != nil {
				return err.Error()
			}
			if e.Port == c.port[sw][name] && e.VLAN == 100 && e.Type == "LEARNED" {
				return ""
			}
			return fmt.Sprintf("switch %d shows the host as %+v, want port %d (%s)", sw+1, e, c.port[sw][name], name)
		})
		var all struct {
			Entries []struct {
				MAC int64 `json:"dest-mac-addr"`
			} `json:"fdb-table-entry"`
		}
		if err := c.Call(c.ctx, "fdb:get-fdb-table", map[string]any{"node-id": c.node[sw]}, &all); err != nil {
			c.t.Error(err)
		}
		seen := false
		for _, row := range all.Entries {
			seen = seen || row.MAC == mac
		}
		if !seen {
			c.t.Errorf("switch %d: the table of %d entries does not have the host", sw+1, len(all.Entries))
		}
	}
	// The peer has no static entries: the refusal is reported, and nothing is half done.
	err := c.Call(c.ctx, "fdb:set-fdb-entry", map[string]any{"node-id": c.node[0], "vlan-id": 100, "dest-mac-addr": mac, "port": c.port[0]["h1"]}, nil)
	if !errors.Is(err, &fault.Error{Kind: fault.Downstream}) {
		c.t.Errorf("a static entry on a switch without them: %v", err)
	}
	err = c.Call(c.ctx, "fdb:set-fdb-entry", map[string]any{"node-id": c.node[0], "vlan-id": 100, "dest-mac-addr": mac, "port": c.port[0]["h2"]}, nil)
	if !errors.Is(err, &fault.Error{Kind: fault.Invalid}) {
		c.t.Errorf("a port that is not in the VLAN: %v", err)
	}
}

// The chain's own links, reported by LLDP, at bridge port numbers.
func TestChain(t *testing.T) {
	c := newChain(t, 3)
	ids := map[string]string{}
	for i, n := range c.node {
		ids[fmt.Sprint(n)] = fmt.Sprint(i + 1)
	}
	var want []string
	for i := range c.switches - 1 {
		a, b := fmt.Sprintf("SNMP %d/%d", i+1, c.port[i]["t1"]), fmt.Sprintf("SNMP %d/%d", i+2, c.port[i+1]["t2"])
		want = append(want, a+">"+b, b+">"+a)
	}
	slices.Sort(want)
	until(c.ctx, t, c.Plugin, func() string { return cmp.Diff(want, found(c.ctx, t, c.Plugin, ids)) })
}
