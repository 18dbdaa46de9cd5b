package switchdrivers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simdlink"
	dlink "ctl.internal/plugins/switch-driver-dlink/device"
	"ctl.internal/plugins/switch/service"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const plugins = "../../plugins"

func manifest(t *testing.T, plugin string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(plugins, plugin, "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The RPCs of module acl, and spanning tree, by the command line of a switch whose
// VLANs are by SNMP.
func TestDLinkThroughTheSwitchPlugin(t *testing.T) {
	lab, err := network.Start(network.Options{Topology: "chain:2", Models: []string{"D-Link_DGS-3120", "generic"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lab.Close)
	sim, err := simdlink.Start(simdlink.Options{STPPort: lab.Nodes()[0].SetSTPEnabled})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	list := filepath.Join(t.TempDir(), "switches.csv")
	if err := lab.WriteCSV(list); err != nil {
		t.Fatal(err)
	}
	host := plugintest.NewHost(t)
	driver := plugintest.Start(t, sdk.Options{Manifest: manifest(t, "switch-driver-dlink"), New: dlink.New},
		plugintest.WithHost(host), plugintest.WithConfig(map[string]any{"port": sim.TelnetPort()}))
	dir := filepath.Join(plugins, "switch")
	p := plugintest.Start(t, sdk.Options{Manifest: manifest(t, "switch"), YANG: os.DirFS(dir), New: service.New, Commands: service.Commands()},
		plugintest.WithHost(host), plugintest.WithConfig(map[string]any{"lists": []string{list}, "discovery": map[string]any{"interval": "0s"}}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	call := func(rpc string, in map[string]any) error { return p.Call(ctx, rpc, in, nil) }
	const node, other = 0x020000000001, 0x020000000002
	profile := map[string]any{"nodeId": node, "profile-id": 1, "profile-name": "web", "acl-layer": "IP", "src-ip-mask": "255.255.255.0"}
	for _, c := range []struct {
		rpc  string
		in   map[string]any
		kind fault.Kind
	}{
		{"acl:create-acl-profile", profile, 0},
		{"acl:create-acl-profile", profile, fault.Exists},
		{"acl:set-acl-rule", map[string]any{"nodeId": node, "profile-id": 1, "rule-id": 3, "port-list": []int{1, 2}, "acl-layer": "IP", "src-ip": "192.0.2.0", "acl-action": "DENY"}, 0},
		{"shell", nil, 0},
		{"acl:del-acl-rule", map[string]any{"nodeId": node, "profile-id": 1, "rule-id": 3}, 0},
		{"acl:del-acl-rule", map[string]any{"nodeId": node, "profile-id": 1, "rule-id": 3}, fault.NotFound},
		{"acl:del-acl-profile", map[string]any{"nodeId": node, "profile-name": "web"}, 0},
		{"acl:clear-acl-table", map[string]any{"nodeId": node}, 0},
		{"misc-config:disable-stp", map[string]any{"node-id": node}, 0},
		{"misc-config:enable-stp", map[string]any{"node-id": node}, 0},
		{"misc-config:set-stp-port-state", map[string]any{"node-id": node, "port": 1, "enable": false}, 0}, // read back by the standard MIBs
		{"misc-config:set-stp-port-state", map[string]any{"node-id": node, "port": 1, "enable": true}, 0},
		{"acl:del-acl-profile", map[string]any{"nodeId": node, "profile-id": 9}, fault.NotFound},
		{"vlan:add-vlan", map[string]any{"node-id": node, "vlan-id": 100, "vlan-name": "lab"}, 0}, // falls to the standard MIBs
		{"acl:clear-acl-table", map[string]any{"nodeId": other}, fault.Unsupported},
	} {
		if c.rpc == "shell" {
			out, err := p.Shell(ctx, "switch:acls", []string{"02:00:00:00:00:01"}, nil)
			if err != nil || !strings.Contains(out, "src-ip 255.255.255.0") || !strings.Contains(out, "src-ip 192.0.2.0") {
				t.Errorf("the access lists are shown as\n%s%v", out, err)
			}
			continue
		}
		err := call(c.rpc, c.in)
		if (err == nil) != (c.kind == 0) || (err != nil && fault.KindOf(err) != c.kind) {
			t.Errorf("%s %v: %v (%v)", c.rpc, c.in, err, fault.KindOf(err))
		}
		if at := fault.All(err); len(at) > 0 && c.kind != fault.Unsupported && !strings.Contains(err.Error(), "02:00:00:00:00:01 (127.0.0.1)") {
			t.Errorf("%s %v: %v does not name the switch", c.rpc, c.in, err)
		}
	}
	want := `create access_profile profile_id 1 profile_name web ip source_ip_mask 255.255.255.0
config access_profile profile_id 1 add access_id 3 ip source_ip 192.0.2.0 port 1,2 deny
config access_profile profile_id 1 delete access_id 3
delete access_profile profile_name web
disable stp
enable stp
config stp ports 1-1 state disable
config stp ports 1-1 state enable`
	if got := strings.Join(sim.Sent(), "\n"); got != want {
		t.Errorf("typed\n%s\nwant\n%s", got, want)
	}
	out, err := p.Shell(ctx, "switch:drivers", nil, nil)
	if err != nil || !strings.Contains(out, "switch-driver-dlink") {
		t.Errorf("%s, %v", out, err)
	}
	driver.Stop()
	if err := call("acl:clear-acl-table", map[string]any{"nodeId": node}); err == nil {
		t.Error("a driver that is gone answers")
	}
	if err := call("vlan:delete-vlan", map[string]any{"node-id": node, "vlan-id": 100}); err != nil {
		t.Errorf("without the driver: %v", err)
	}
}
