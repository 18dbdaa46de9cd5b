//go:build peers

package switchpeers

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"

	ovs "ctl.internal/plugins/switch-driver-ovs/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

// ovsChain is the chain of VLAN switches, driven by OVSDB.
type ovsChain struct {
	t        *testing.T
	ctx      context.Context
	driver   *switchdriver.Client
	dir      string
	pre      string
	hosts    string
	switches []*switchdriver.Switch
	port     []map[string]uint32 // OpenFlow port by name
}

func ovsLab(t *testing.T, switches int) *ovsChain {
	need(t, "ip", "snmpd", "lldpd", "snmpbulkwalk", "ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl", "perl", "ping", "ethtool")
	c := &ovsChain{t: t, pre: prefix(t, "o"), hosts: subnet(t, 194)}
	net := subnet(t, 195)
	c.dir = filepath.Join(os.TempDir(), "lab-qbridge-"+c.pre)
	lab(t, "lab-qbridge.sh", fmt.Sprint("LAB_SWITCHES=", switches), "LAB_PREFIX="+c.pre, "LAB_NET="+net, "LAB_HOSTS="+c.hosts, "LAB_DIR="+c.dir)
	c.ctx = long(t)
	for i := range switches {
		mac := links(t, fmt.Sprint(c.pre, i+1))["mgmt"].MAC
		c.switches = append(c.switches, &switchdriver.Switch{NodeId: uint64(number(t, mac)), Address: fmt.Sprintf("%s.%d", net, i+1), Model: "Open vSwitch"})
	}
	c.driver = switchdriver.NewClient(c.plugin(t, "60s").Conn)
	for _, sw := range c.switches {
		ports, err := c.driver.ReadPorts(c.ctx, sw)
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]uint32{}
		for _, p := range ports {
			byName[p.Name] = p.Number
		}
		c.port = append(c.port, byName)
	}
	return c
}

// plugin runs the driver with settings for the lab.
func (c *ovsChain) plugin(t *testing.T, timeout string) *plugintest.Plugin {
	t.Helper()
	var hosts []map[string]any
	for i, sw := range c.switches {
		hosts = append(hosts, map[string]any{"address": sw.Address, "unixctl": fmt.Sprintf("unix:%s/%s%d/vswitchd.ctl", c.dir, c.pre, i+1)})
	}
	manifest, err := os.ReadFile(filepath.Join(root, "plugins", "switch-driver-ovs", "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return plugintest.Start(t, sdk.Options{Manifest: manifest, New: ovs.New},
		plugintest.WithConfig(map[string]any{"hosts": hosts, "timeout": timeout}))
}

// list is ports by name, in order; those that a switch does not have are left out.
func (c *ovsChain) list(sw int, names ...string) (out []uint32) {
	for _, n := range names {
		if p, ok := c.port[sw][n]; ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (c *ovsChain) reach(what string, i, j, k, l int, want bool) {
	c.t.Helper()
	reach(c.ctx, c.t, c.pre, c.hosts, what, i, j, k, l, want)
}

func (c *ovsChain) must(what string, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
}

func (c *ovsChain) vlans(sw int) map[uint32][]uint32 {
	c.t.Helper()
	all, err := c.driver.ReadVLANs(c.ctx, c.switches[sw])
	c.must("ReadVlans", err)
	out := map[uint32][]uint32{}
	for _, v := range all {
		out[v.VlanId] = v.EgressPorts
	}
	return out
}

// What the driver does is what the hosts see.
func TestOVSDriverOnTheWire(t *testing.T) {
	c := ovsLab(t, 3)
	c.reach("one VLAN", 1, 1, 3, 1, true)
	c.reach("one VLAN", 1, 1, 3, 2, true)
	before := c.vlans(0)
	for i, sw := range c.switches {
		v := &switchdriver.VLAN{VlanId: 100, Name: "lab", EgressPorts: c.list(i, "h1", "t1", "t2"), UntaggedPorts: c.list(i, "h1")}
		got, err := c.driver.WriteVLAN(c.ctx, sw, v, true, true)
		c.must("WriteVlan", err)
		if d := cmp.Diff(v.EgressPorts, got.EgressPorts); d != "" || got.Name != "lab" {
			t.Errorf("switch %d (-want +got):\n%s", i+1, d)
		}
	}
	c.reach("VLAN 100 over tagged trunks", 1, 1, 3, 1, true)
	c.reach("VLAN 100 is apart", 1, 1, 1, 2, false)
	c.reach("VLAN 1 goes on", 1, 2, 3, 2, true)
	c.forwarding()
	c.must("a trunk without VLAN 100", second(c.driver.WriteVLAN(c.ctx, c.switches[1],
		&switchdriver.VLAN{VlanId: 100, EgressPorts: c.list(1, "h1", "t2"), UntaggedPorts: c.list(1, "h1")}, false, true)))
	c.reach("VLAN 100 without the second trunk", 1, 1, 3, 1, false)
	c.reach("VLAN 100 with the first", 1, 1, 2, 1, true)
	c.must("h2 joins VLAN 100", second(c.driver.WriteVLAN(c.ctx, c.switches[0],
		&switchdriver.VLAN{VlanId: 100, EgressPorts: c.list(0, "h1", "h2", "t1"), UntaggedPorts: c.list(0, "h1", "h2")}, false, true)))
	c.reach("h2 joined VLAN 100", 1, 1, 1, 2, true)
	c.reach("h2 left VLAN 1", 1, 2, 2, 2, false)
	for _, sw := range c.switches {
		c.must("DeleteVlan", c.driver.DeleteVLAN(c.ctx, sw, 100))
	}
	c.reach("one VLAN again", 1, 1, 3, 2, true)
	if d := cmp.Diff(before, c.vlans(0)); d != "" {
		t.Errorf("after removing (-before +after):\n%s", d)
	}
	c.atOnce()
	c.spanningTree()
}

func second[T any](_ T, err error) error { return err }

// forwarding: the hosts that just spoke are where they are, and a static entry leads
// frames astray.
func (c *ovsChain) forwarding() {
	c.t.Helper()
	mac := uint64(number(c.t, links(c.t, c.pre+"1h1")["eth0"].MAC))
	for i, name := range []string{"h1", "t2", "t2"} {
		patiently(c.ctx, c.t, func() string { // a change of ports a moment ago may have made the switch forget
			_ = ping(c.t, c.pre+"1h1", netip.MustParseAddr(fmt.Sprintf("%s.%d", c.hosts, 10*len(c.switches)+1)))
			e, err := c.driver.ReadFDB(context.WithoutCancel(c.ctx), c.switches[i], 100, mac)
			c.must("ReadFdb", err)
			if len(e) == 1 && e[0].Port == c.port[i][name] && e[0].Type == switchdriver.FDBLearned {
				return ""
			}
			return fmt.Sprintf("switch %d shows the host as %v, want port %d (%s)", i+1, e, c.port[i][name], name)
		})
	}
	far := uint64(number(c.t, links(c.t, c.pre+"3h1")["eth0"].MAC))
	wrong := &switchdriver.FDBEntry{VlanId: 100, Mac: far, Port: c.port[1]["t2"]} // back where it came from
	c.must("WriteFdbEntry", c.driver.WriteFDBEntry(c.ctx, c.switches[1], wrong))
	c.reach("a static entry that leads astray", 1, 1, 3, 1, false)
	c.must("DeleteFdbEntry", c.driver.DeleteFDBEntry(c.ctx, c.switches[1], 100, far))
	c.reach("without the static entry", 1, 1, 3, 1, true)
}

// atOnce: many changes at one switch at the same time, while somebody else uses
// ovs-vsctl; none is lost and none half done.
func (c *ovsChain) atOnce() {
	c.t.Helper()
	const n = 50
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			_, errs[i] = c.driver.WriteVLAN(c.ctx, c.switches[0], &switchdriver.VLAN{VlanId: uint32(200 + i), Name: fmt.Sprint("v", i), EgressPorts: c.list(0, "t1")}, true, true)
		})
	}
	for i := range 5 {
		cmd := exec.CommandContext(c.ctx, "ovs-vsctl", "--timeout=30", "--db=unix:"+filepath.Join(c.dir, c.pre+"1", "db.sock"), "set", "bridge", "br0", fmt.Sprintf("external_ids:other-%d=x", i))
		if out, err := cmd.CombinedOutput(); err != nil {
			c.t.Errorf("ovs-vsctl: %v\n%s", err, out)
		}
	}
	all.Wait()
	now := c.vlans(0)
	for i, err := range errs {
		if errors.Is(err, &fault.Error{Kind: fault.Timeout}) { // a minute for all may not do on a busy machine
			if now[uint32(200+i)] != nil {
				c.t.Errorf("VLAN %d failed (%v), but is there", 200+i, err)
			}
			continue
		}
		c.must("one of many VLANs", err)
		if d := cmp.Diff(c.list(0, "t1"), now[uint32(200+i)]); d != "" {
			c.t.Errorf("VLAN %d (-want +got):\n%s", 200+i, d)
		}
	}
	for i := range n {
		if now[uint32(200+i)] != nil {
			c.must("DeleteVlan", c.driver.DeleteVLAN(c.ctx, c.switches[0], uint32(200+i)))
		}
	}
}

// spanningTree: a port of the tree's own makes, and its root is the one that
// ovs-vsctl shows.
func (c *ovsChain) spanningTree() {
	c.t.Helper()
	for i, sw := range c.switches {
		c.must("WriteStp", c.driver.WriteSTP(c.ctx, sw, 0, true))
		var root string
		again := time.NewTicker(50 * time.Millisecond)
		for ; ; <-again.C { // the switches elect a root
			ports, on, err := c.driver.ReadSTP(c.ctx, sw, c.port[i]["h1"])
			c.must("ReadStp", err)
			out, err := exec.CommandContext(c.ctx, "ovs-vsctl", "--timeout=10", "--db=unix:"+filepath.Join(c.dir, fmt.Sprint(c.pre, i+1), "db.sock"),
				"get", "bridge", "br0", "status:stp_designated_root").CombinedOutput()
			root = strings.ReplaceAll(strings.Trim(strings.TrimSpace(string(out)), `"`), ".", "")
			if err == nil && on && fmt.Sprintf("%x", ports[0].DesignatedRoot) == root && ports[0].State >= switchdriver.STPListening {
				break
			}
			if c.ctx.Err() != nil {
				c.t.Fatalf("switch %d: read %v, ovs-vsctl says %q (%v)", i+1, ports, root, err)
			}
		}
		again.Stop()
		c.must("WriteStp", c.driver.WriteSTP(c.ctx, sw, 0, false))
	}
	c.reach("without a spanning tree", 1, 1, 3, 1, true)
}

// The contract, on a real switch.
func TestOVSDriverConformance(t *testing.T) {
	c := ovsLab(t, 2)
	at := func(host string, port uint16) *switchdriver.Switch {
		return &switchdriver.Switch{NodeId: 1, Address: host, Cli: &pluginv1.CliAccess{Port: uint32(port)}}
	}
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		return conformance.Peer{Conn: c.plugin(t, "10s").Conn, Switch: c.switches[0], At: at, Ports: c.list(0, "h1", "h2", "t1")}
	})
}
