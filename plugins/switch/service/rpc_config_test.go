package service

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// expect calls an RPC and compares its output.
func (b *bench) expect(t *testing.T, module, rpc, input, want string) {
	t.Helper()
	got, err := b.call(t, module, rpc, input)
	if err != nil || got != want {
		t.Errorf("%s:%s %s\n got %s %v\nwant %s", module, rpc, input, got, err, want)
	}
}

// refuse calls an RPC that must fail.
func (b *bench) refuse(t *testing.T, module, rpc, input string, kind fault.Kind, parts ...string) {
	t.Helper()
	_, err := b.call(t, module, rpc, input)
	if !errors.Is(err, &fault.Error{Kind: kind}) {
		t.Errorf("%s:%s %s: %v (%v), want %v", module, rpc, input, err, fault.KindOf(err), kind)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s:%s %s: the error does not contain %q: %v", module, rpc, input, p, err)
		}
	}
}

const of = `{"node-id":` + sw1 + `,`

func TestSTP(t *testing.T) {
	b := newLab(t, network.Options{Topology: "ring:3", Ports: 20})
	b.expect(t, "misc-config", "get-stp-port-state", of+`"port":1}`, `{"stp-port-state":"FORWARDING"}`)
	b.expect(t, "misc-config", "get-stp-port-root", of+`"port":1}`, `{"root-node-id":2199023255553}`)
	b.expect(t, "misc-config", "set-stp-port-state", of+`"port":1,"enable":false}`, `{"set-stp-port-state-result":"SUCCESS"}`)
	first := b.Nodes()[0]
	if first.STPEnabled(1) || !first.STPEnabled(2) {
		t.Error("not port 1 alone was set")
	}
	b.expect(t, "misc-config", "disable-stp", of[:len(of)-1]+`}`, `{"disable-stp-result":"SUCCESS"}`)
	for p := 1; p <= 20; p++ {
		if first.STPEnabled(p) {
			t.Errorf("port %d still takes part", p)
		}
	}
	b.expect(t, "misc-config", "enable-stp", of[:len(of)-1]+`}`, `{"enable-stp-result":"SUCCESS"}`)
	if !first.STPEnabled(20) {
		t.Error("enable-stp left port 20")
	}
	b.refuse(t, "misc-config", "get-stp-port-state", of+`"port":21}`, fault.NotFound, "/misc-config:input/port", "no port 21")
	b.refuse(t, "misc-config", "set-stp-port-state", of+`"port":0,"enable":true}`, fault.Invalid, "port")
	b.refuse(t, "misc-config", "set-stp-port-state", of+`"port":1}`, fault.Missing, "enable")
	b.refuse(t, "misc-config", "enable-stp", `{"node-id":7}`, fault.NotFound, "node-id")
	if err := b.SetFaults("sw1", faults.Set{SetIgnore: true}); err != nil {
		t.Fatal(err)
	}
	b.refuse(t, "misc-config", "disable-stp", of[:len(of)-1]+`}`, fault.Downstream, "shows spanning tree enabled true")
}

func TestARP(t *testing.T) {
	for _, model := range []string{"generic", "D-Link_DGS-3627G", "D-Link_DGS-3120"} { // interfaces 5121, 5120, 5122
		t.Run(model, func(t *testing.T) {
			b := newLab(t, network.Options{Topology: "single:1", Models: []string{model}})
			own := b.Nodes()[0].Address()
			at := func(host byte) string {
				a := own.Masked().Addr().As4()
				a[3] = host
				return netip.AddrFrom4(a).String()
			}
			b.Nodes()[0].LearnARP(netip.MustParseAddr(at(77)), simswitch.MAC{2, 0, 0, 0, 9, 9})
			b.expect(t, "misc-config", "get-arp-entry", of+`"ip-address":"`+at(77)+`/16"}`, `{"ip-address":"`+at(77)+`","mac-address":2199023257865}`)
			b.refuse(t, "misc-config", "get-arp-entry", of+`"ip-address":"`+at(77)+`/24"}`, fault.Invalid, "/misc-config:input/ip-address", "10.99.0.0/16")
			b.expect(t, "misc-config", "set-arp-entry", of+`"ip-address":"`+at(78)+`","mac-address":158969157063648}`, `{"set-arp-entry-result":"SUCCESS"}`)
			b.expect(t, "misc-config", "set-arp-entry", of+`"ip-address":"`+at(77)+`","mac-address":158969157063648}`, `{"set-arp-entry-result":"SUCCESS"}`)
			b.expect(t, "misc-config", "get-arp-table", of[:len(of)-1]+`}`, `{"arp-table-entry":[{"ip-address":"`+at(77)+`","mac-address":158969157063648},`+
				`{"ip-address":"`+at(78)+`","mac-address":158969157063648}]}`)
			b.expect(t, "misc-config", "delete-arp-entry", of+`"ip-address":"`+at(78)+`/24"}`, `{"delete-arp-entry-result":"SUCCESS"}`)
			b.refuse(t, "misc-config", "delete-arp-entry", of+`"ip-address":"`+at(78)+`"}`, fault.NotFound, "no ARP entry")
			b.refuse(t, "misc-config", "get-arp-entry", of+`"ip-address":"`+at(78)+`"}`, fault.NotFound)
			b.refuse(t, "misc-config", "set-arp-entry", of+`"ip-address":"192.0.2.1","mac-address":158969157063648}`, fault.Invalid, "no subnet", "/misc-config:input/ip-address")
			b.refuse(t, "misc-config", "set-arp-entry", of+`"ip-address":"`+at(79)+`/31","mac-address":158969157063648}`, fault.Invalid, "10.99.0.0/16")
			for _, bad := range []string{"", "x", "10.0.0", "10.0.0.1/33", "10.0.0.1/0", "::1", "224.0.0.1", "0.0.0.0", "10.0.0.1; reload"} {
				b.refuse(t, "misc-config", "set-arp-entry", of+`"ip-address":"`+bad+`","mac-address":158969157063648}`, fault.Invalid, "ip-address")
			}
			b.refuse(t, "misc-config", "set-arp-entry", of+`"ip-address":"`+at(78)+`","mac-address":1101088686331}`, fault.Invalid, "mac-address", "group")
		})
	}
}

// acl is a driver of access lists that keeps what it got.
type acl struct {
	*mibdriver.Driver
	got []string
}

func (a *acl) ApplyACL(_ context.Context, _ *switchdriver.Switch, action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) error {
	a.got = append(a.got, strings.Join(strings.Fields(action.String()+" "+p.String()+" | "+r.String()), " "))
	return nil
}

func TestACL(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1"})
	const in = `{"nodeId":` + sw1 + `,`
	b.refuse(t, "acl", "clear-acl-table", in[:len(in)-1]+`}`, fault.Unsupported, "ApplyAcl")
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	d := &acl{Driver: mibdriver.New(c)}
	b.drivers = driver.New(driver.Options{Standard: d})
	b.expect(t, "acl", "create-acl-profile", in+`"profile-id":1,"profile-name":"profile_1","acl-layer":"IP","vlan-mask":4095,"src-ip-mask":"255.255.255.0","dst-ip-mask":"255.255.255.255"}`,
		`{"create-acl-profile-result":"SUCCESS"}`)
	b.expect(t, "acl", "create-acl-profile", in+`"profile-id":2,"profile-name":"p2","acl-layer":"ETHERNET","vlan-mask":0}`, `{"create-acl-profile-result":"SUCCESS"}`)
	b.expect(t, "acl", "set-acl-rule", in+`"profile-id":1,"profile-name":"profile_1","rule-id":7,"port-list":[3,1,3],"acl-layer":"IP","vlan-id":100,"src-ip":"10.0.0.1","dst-ip":"10.0.0.2","acl-action":"DENY"}`,
		`{"set-acl-rule-result":"SUCCESS"}`)
	b.expect(t, "acl", "del-acl-rule", in+`"profile-name":"profile_1","rule-id":7}`, `{"del-acl-rule-result":"SUCCESS"}`)
	b.expect(t, "acl", "del-acl-profile", in+`"profile-name":"p2"}`, `{"del-acl-profile-result":"SUCCESS"}`)
	b.expect(t, "acl", "clear-acl-table", in[:len(in)-1]+`}`, `{"clear-acl-table-result":"SUCCESS"}`)
	if len(d.got) != 6 || !strings.Contains(d.got[2], "ports:1 ports:3") || strings.Count(d.got[2], "ports:") != 2 || !strings.Contains(d.got[2], `action:"DENY"`) {
		t.Errorf("the driver got\n%s", strings.Join(d.got, "\n"))
	}
	sent := len(d.got)
	for _, c := range []struct {
		rpc, input string
		kind       fault.Kind
		leaf       string
	}{
		{"create-acl-profile", `"profile-id":1,"acl-layer":"IP","vlan-mask":1}`, fault.Missing, "profile-name"},
		{"create-acl-profile", `"profile-name":"x","acl-layer":"IP","vlan-mask":1}`, fault.Missing, "profile-id"},
		{"create-acl-profile", `"profile-id":1,"profile-name":"x","acl-layer":"IP"}`, fault.Missing, "vlan-mask"},
		{"create-acl-profile", `"profile-id":1,"profile-name":"x","acl-layer":"ETHERNET"}`, fault.Missing, "vlan-mask"},
		{"create-acl-profile", `"profile-id":1,"profile-name":"x","acl-layer":"ETHERNET","vlan-mask":1,"src-ip-mask":"255.0.0.0"}`, fault.Invalid, "src-ip-mask"},
		{"create-acl-profile", `"profile-id":1,"profile-name":"x","acl-layer":"IPV9","vlan-mask":1}`, fault.Invalid, "acl-layer"},
		{"create-acl-profile", `"profile-id":1,"profile-name":"x","acl-layer":"IP","vlan-mask":4096}`, fault.Invalid, "vlan-mask"},
		{"create-acl-profile", `"profile-id":1,"profile-name":"x","acl-layer":"IP","src-ip-mask":"24"}`, fault.Invalid, "src-ip-mask"},
		{"create-acl-profile", `"profile-id":0,"profile-name":"x","acl-layer":"IP","vlan-mask":1}`, fault.Invalid, "profile-id"},
		{"set-acl-rule", `"rule-id":1,"port-list":[1],"acl-layer":"IP","vlan-id":1,"acl-action":"PERMIT"}`, fault.Missing, "profile-id"},
		{"set-acl-rule", `"profile-id":1,"port-list":[1],"acl-layer":"IP","vlan-id":1,"acl-action":"PERMIT"}`, fault.Missing, "rule-id"},
		{"set-acl-rule", `"profile-id":1,"rule-id":1,"port-list":[],"acl-layer":"IP","vlan-id":1,"acl-action":"PERMIT"}`, fault.Missing, "port-list"},
		{"set-acl-rule", `"profile-id":1,"rule-id":1,"port-list":[0],"acl-layer":"IP","vlan-id":1,"acl-action":"PERMIT"}`, fault.Invalid, "port-list"},
		{"set-acl-rule", `"profile-id":1,"rule-id":1,"port-list":[1],"acl-layer":"ETHERNET","acl-action":"PERMIT"}`, fault.Missing, "vlan-id"},
		{"set-acl-rule", `"profile-id":1,"rule-id":1,"port-list":[1],"acl-layer":"ETHERNET","vlan-id":1,"dst-ip":"10.0.0.1","acl-action":"PERMIT"}`, fault.Invalid, "dst-ip"},
		{"set-acl-rule", `"profile-id":1,"rule-id":1,"port-list":[1],"acl-layer":"IP","vlan-id":4095,"acl-action":"PERMIT"}`, fault.Invalid, "vlan-id"},
		{"set-acl-rule", `"profile-id":1,"rule-id":1,"port-list":[1],"acl-layer":"IP","vlan-id":1}`, fault.Missing, "acl-action"},
		{"del-acl-rule", `"profile-id":1}`, fault.Missing, "rule-id"},
		{"del-acl-profile", `"profile-id":70000}`, fault.Invalid, "profile-id"},
	} {
		b.refuse(t, "acl", c.rpc, in+c.input, c.kind, c.leaf)
	}
	if len(d.got) != sent {
		t.Errorf("the driver got what was refused: %v", d.got[sent:])
	}
}

// No value of any RPC that may reach a command line can be more than one word.
func TestInjection(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1"})
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	d := &acl{Driver: mibdriver.New(c)}
	b.drivers = driver.New(driver.Options{Standard: d})
	const in = `{"nodeId":` + sw1 + `,`
	templates := []struct{ module, rpc, input, leaf string }{
		{"acl", "create-acl-profile", in + `"profile-id":1,"profile-name":"%s","acl-layer":"IP","vlan-mask":1}`, "profile-name"},
		{"acl", "create-acl-profile", in + `"profile-id":1,"profile-name":"x","acl-layer":"IP","src-ip-mask":"%s"}`, "src-ip-mask"},
		{"acl", "create-acl-profile", in + `"profile-id":1,"profile-name":"x","acl-layer":"IP","dst-ip-mask":"%s"}`, "dst-ip-mask"},
		{"acl", "del-acl-profile", in + `"profile-name":"%s"}`, "profile-name"},
		{"acl", "set-acl-rule", in + `"profile-name":"%s","rule-id":1,"port-list":[1],"acl-layer":"IP","vlan-id":1,"acl-action":"PERMIT"}`, "profile-name"},
		{"acl", "set-acl-rule", in + `"profile-id":1,"rule-id":1,"rule-name":"%s","port-list":[1],"acl-layer":"IP","vlan-id":1,"acl-action":"PERMIT"}`, "rule-name"},
		{"acl", "set-acl-rule", in + `"profile-id":1,"rule-id":1,"port-list":[1],"acl-layer":"IP","src-ip":"%s","acl-action":"PERMIT"}`, "src-ip"},
		{"acl", "set-acl-rule", in + `"profile-id":1,"rule-id":1,"port-list":[1],"acl-layer":"IP","dst-ip":"%s","acl-action":"PERMIT"}`, "dst-ip"},
		{"acl", "del-acl-rule", in + `"profile-name":"%s","rule-id":1}`, "profile-name"},
		{"acl", "del-acl-rule", in + `"profile-id":1,"rule-id":1,"rule-name":"%s"}`, "rule-name"},
		{"misc-config", "set-arp-entry", of + `"ip-address":"%s","mac-address":2}`, "ip-address"},
		{"misc-config", "delete-arp-entry", of + `"ip-address":"%s"}`, "ip-address"},
		{"vlan", "set-vlan-ports", of + `"vlan-id":1,"tagged-port-list":"%s","untagged-port-list":""}`, "tagged-port-list"},
		{"vlan", "set-vlan-ports", of + `"vlan-id":1,"tagged-port-list":"","untagged-port-list":"%s"}`, "untagged-port-list"},
	}
	values := []string{`a\r\nreboot`, `a\nreboot`, `a\rreboot`, `1 reboot`, `1;reboot`, `1|reboot`, `1?`, `1\u0000`, `1\u001b[A`, `1\u2028reboot`, `\"1\"`, `'1'`, `$1`, "`1`", `1#`, `1!`, `1&`, `{1}`, `1\t1`, `1\u007f`}
	for _, c := range templates {
		for _, v := range values {
			_, err := b.call(t, c.module, c.rpc, strings.Replace(c.input, "%s", v, 1))
			if err == nil || !strings.Contains(err.Error(), c.leaf) && !strings.Contains(err.Error(), "YANG does not allow") {
				t.Errorf("%s:%s took %s for %s: %v", c.module, c.rpc, v, c.leaf, err)
			}
		}
	}
	if len(d.got) != 0 {
		t.Errorf("the driver got %v", d.got)
	}
	if n := b.Nodes()[0].Server.Agent().Stats().Sets; n != 0 {
		t.Errorf("%d SETs were sent", n)
	}
}

func TestSwitchDB(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1"})
	const info = `{"node-ip":"192.0.2.9","node-mac":"90:94:e4:23:13:e0","community":"secret-one","cli-user-name":"admin","cli-password":"secret-two","model":"D-Link_DGS3650"}`
	b.expect(t, "switch-db", "add-switch-entry", info, `{"add-switch-entry-result":"SUCCESS"}`)
	b.refuse(t, "switch-db", "add-switch-entry", info, fault.Exists, "node-mac")
	b.refuse(t, "switch-db", "add-switch-entry", strings.Replace(info, ":e0", ":e1", 1), fault.Exists)
	if e := b.inventory.Entries(); len(e) != 2 || e[1].CLIPassword != "secret-two" || e[1].WriteCommunity != "secret-one" {
		t.Errorf("the list is %v", e)
	}
	for _, c := range []struct {
		input, leaf string
		kind        fault.Kind
	}{
		{`{"node-mac":"90:94:e4:23:13:e0","community":"x"}`, "node-ip", fault.Missing},
		{`{"node-ip":"192.0.2.9","community":"x"}`, "node-mac", fault.Missing},
		{`{"node-ip":"192.0.2","node-mac":"90:94:e4:23:13:e0","community":"x"}`, "node-ip", fault.Invalid},
		{`{"node-ip":"192.0.2.7","node-mac":"90:94:e4:23:13","community":"x"}`, "node-mac", fault.Invalid},
		{`{"node-ip":"192.0.2.7","node-mac":"91:94:e4:23:13:e0","community":"x"}`, "node-mac", fault.Invalid},
		{`{"node-ip":"192.0.2.7","node-mac":"90:94:e4:23:13:e2"}`, "community", fault.Invalid},
		{`{"node-ip":"192.0.2.7","node-mac":"90:94:e4:23:13:e2","community":"x","cli-password":"a\nb"}`, "cli-password", fault.Invalid},
		{`{"node-ip":"192.0.2.7","node-mac":"90:94:e4:23:13:e2","community":"x","model":"` + strings.Repeat("m", 300) + `"}`, "model", fault.Invalid},
	} {
		b.refuse(t, "switch-db", "add-switch-entry", c.input, c.kind, c.leaf)
	}
	b.refuse(t, "switch-db", "delete-switch-entry", `{"node-ip":"192.0.2.10"}`, fault.NotFound, "node-ip")
	b.expect(t, "switch-db", "delete-switch-entry", `{"node-ip":"192.0.2.9"}`, `{"delete-switch-entry-result":"SUCCESS"}`)
	b.refuse(t, "switch-db", "update-db", `{"all-switch-entry":[`+info+`,`+strings.Replace(info, ":e0", "", 1)+`]}`, fault.Invalid, "all-switch-entry[2]/node-mac")
	b.refuse(t, "switch-db", "update-db", `{"all-switch-entry":[`+info+`,`+info+`]}`, fault.Invalid, "all-switch-entry[2]", "entry 1")
	if len(b.inventory.Entries()) != 1 {
		t.Error("a refused update-db changed the list")
	}
	b.expect(t, "switch-db", "update-db", `{"all-switch-entry":[`+info+`]}`, `{"update-db-result":"SUCCESS"}`)
	b.refuse(t, "vlan", "get-vlan-table", of[:len(of)-1]+`}`, fault.NotFound, "stored switch list")
	b.expect(t, "switch-db", "clear-db", "", `{"clear-db-result":"SUCCESS"}`)
	if len(b.inventory.Entries()) != 0 {
		t.Error("clear-db left something")
	}
	b.refuse(t, "switch-db", "reload-db", "", fault.NotFound, "/nothing/there.csv")
}
