//go:build peers

package switchpeers

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ovs "ctl.internal/plugins/switch-driver-ovs/device"
	"ctl.internal/plugins/switch/service"
	"ctl.internal/sdk"
	"ctl.internal/sdk/plugintest"
)

// VLANs by the RPCs, through the switch plugin and the driver of Open vSwitch, proved
// by what the hosts reach.
func TestOVSThroughTheSwitchPlugin(t *testing.T) {
	c := ovsLab(t, 2)
	host := plugintest.NewHost(t)
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(root, "plugins", name, "plugin.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var hosts []map[string]any
	list := []string{"MAC,IP,SNMP_Community,Model,Driver"}
	for i, sw := range c.switches {
		hosts = append(hosts, map[string]any{"address": sw.Address, "unixctl": fmt.Sprintf("unix:%s/%s%d/vswitchd.ctl", c.dir, c.pre, i+1)})
		list = append(list, fmt.Sprintf("%012x,%s,public,anything,switch-driver-ovs", sw.NodeId, sw.Address))
	}
	path := filepath.Join(t.TempDir(), "switches.csv")
	if err := os.WriteFile(path, []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plugintest.Start(t, sdk.Options{Manifest: read("switch-driver-ovs"), New: ovs.New}, plugintest.WithHost(host), plugintest.WithConfig(map[string]any{"hosts": hosts, "timeout": "60s"}))
	dir := filepath.Join(root, "plugins", "switch")
	p := plugintest.Start(t, sdk.Options{Manifest: read("switch"), YANG: os.DirFS(dir), New: service.New, Commands: service.Commands()},
		plugintest.WithHost(host), plugintest.WithConfig(map[string]any{"lists": []string{path}, "discovery": map[string]any{"interval": "0s"}}))
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	must := func(rpc string, in map[string]any, out any) {
		t.Helper()
		if err := p.Call(ctx, rpc, in, out); err != nil {
			t.Fatalf("%s %v: %v", rpc, in, err)
		}
	}
	text := func(ports []uint32) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ","), "[]")
	}
	c.reach("one VLAN", 1, 1, 2, 1, true)
	for i, sw := range c.switches {
		must("vlan:add-vlan-and-set-ports", map[string]any{"node-id": sw.NodeId, "vlan-id": 100, "vlan-name": "lab",
			"tagged-port-list": text(c.list(i, "t1", "t2")), "untagged-port-list": text(c.list(i, "h1"))}, nil)
	}
	c.reach("VLAN 100 over tagged trunks", 1, 1, 2, 1, true)
	c.reach("VLAN 100 is apart", 1, 1, 1, 2, false)
	c.reach("VLAN 1 goes on", 1, 2, 2, 2, true)
	mac := number(t, links(t, c.pre+"1h1")["eth0"].MAC)
	var e struct {
		Port uint32 `json:"port"`
		Type string `json:"type"`
	}
	patiently(ctx, t, func() string { // a change of ports a moment ago may have made the switch forget
		_ = ping(t, c.pre+"1h1", netip.MustParseAddr(c.hosts+".21"))
		err := p.Call(context.WithoutCancel(ctx), "fdb:get-fdb-entry", map[string]any{"node-id": c.switches[1].NodeId, "vlan-id": 100, "dest-mac-addr": mac}, &e)
		if err == nil && e.Port == c.port[1]["t2"] && e.Type == "LEARNED" {
			return ""
		}
		return fmt.Sprintf("the second switch shows the host as %+v, %v", e, err)
	})
	must("misc-config:enable-stp", map[string]any{"node-id": c.switches[0].NodeId}, nil)
	if _, on, err := c.driver.ReadSTP(ctx, c.switches[0], 0); err != nil || !on {
		t.Errorf("spanning tree: %v, %v", on, err)
	}
	must("misc-config:disable-stp", map[string]any{"node-id": c.switches[0].NodeId}, nil)
	for _, sw := range c.switches {
		must("vlan:delete-vlan", map[string]any{"node-id": sw.NodeId, "vlan-id": 100}, nil)
	}
	c.reach("one VLAN again", 1, 1, 1, 2, true)
	if out, err := p.Shell(ctx, "switch:drivers", nil, nil); err != nil || !strings.Contains(out, "switch-driver-ovs | 1.0.0   | ready |        2") {
		t.Errorf("switch:drivers: %v\n%s", err, out)
	}
}
