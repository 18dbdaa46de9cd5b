package vendorfile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/plugins/switch/vendorfile"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// console is a switch's command line over telnet: its commands change the simulated
// switch, as those of a real one do.
type console struct {
	port   int
	prompt func(typed string) string // after a line; nil: "sw# "
	mu     sync.Mutex
	typed  []string
}

func startConsole(t *testing.T, do func(line string) (said string)) *console {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &console{port: l.Addr().(*net.TCPAddr).Port}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer conn.Close(); c.serve(conn, do) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return c
}

func (c *console) serve(conn net.Conn, do func(string) string) {
	in := bufio.NewScanner(conn)
	for _, prompt := range []string{"Login: ", "Password: "} {
		_, _ = io.WriteString(conn, prompt)
		if !in.Scan() {
			return
		}
	}
	for line := ""; ; {
		c.mu.Lock()
		prompt := "sw# "
		if c.prompt != nil {
			prompt = c.prompt(line)
		}
		c.mu.Unlock()
		if _, err := io.WriteString(conn, prompt); err != nil || !in.Scan() {
			return
		}
		line = in.Text()
		c.mu.Lock()
		c.typed = append(c.typed, line)
		c.mu.Unlock()
		fmt.Fprintf(conn, "%s\r\n%s\r\n", line, do(line))
	}
}

func (c *console) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.typed)
}

type bench struct {
	*network.Network
	chooser  *driver.Chooser
	standard *mibdriver.Driver
	sw       *switchdriver.Switch
}

func newBench(t *testing.T, model, file string) *bench {
	t.Helper()
	n, err := network.Start(network.Options{Topology: "single:1", Models: []string{model}, Ports: 28})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	entries, _ := switchlist.Parse("lab.csv", n.CSV())
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	path := filepath.Join(t.TempDir(), "v.xml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	b := &bench{Network: n, standard: mibdriver.New(c), sw: entries[0].Switch()}
	source := vendorfile.NewSource([]string{"/nothing", path}, log)
	x := vendorfile.New(source, b.standard, &hostkeys.Keys{})
	for _, p := range source.File().Problems {
		t.Fatal(p)
	}
	b.chooser = driver.New(driver.Options{Standard: b.standard, File: x, Log: log})
	x.Next = b.chooser.Next
	return b
}

func (b *bench) console(t *testing.T, do func(string) string) *console {
	c := startConsole(t, do)
	b.sw.Cli = &pluginv1.CliAccess{Port: uint32(c.port), User: "admin", Password: "s3cret"}
	return c
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func (b *bench) perform(t *testing.T, o writes.Operation) error {
	t.Helper()
	_, err := b.chooser.Perform(deadline(t), b.sw, &o)
	return err
}

func (b *bench) write(t *testing.T, v *switchdriver.VLAN, create, ports bool) (*switchdriver.VLAN, error) {
	t.Helper()
	err := b.perform(t, writes.Operation{Request: &pluginv1.WriteVlanRequest{Vlan: v, Create: create, SetPorts: ports}})
	return b.vlan(t, v.VlanId), err
}

func (b *bench) vlan(t *testing.T, id uint32) *switchdriver.VLAN {
	t.Helper()
	all, err := b.standard.ReadVLANs(deadline(t), b.sw)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if v.VlanId == id {
			return v
		}
	}
	return nil
}

func config(model, rest string) string {
	return "<VsConfig><SwitchConfig><model>" + model + "</model>" + rest + "</SwitchConfig></VsConfig>"
}

func function(name, channel, extra string, commands ...string) string {
	return "<FunctionConfig><function_name>" + name + "</function_name><channel>" + channel + "</channel>" + extra +
		"<commands_with_items_in_order><command>" + strings.Join(commands, "</command><command>") + "</command></commands_with_items_in_order></FunctionConfig>"
}

const two = "${vlan_create}$"

var one = "${vlan_name}$${egress_ports}$${untagged_ports}$${vlan_create}$"

func kind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if !errors.Is(err, &fault.Error{Kind: want}) {
		t.Errorf("%v (%v), want %v", err, fault.KindOf(err), want)
	}
}

var asked = &switchdriver.VLAN{VlanId: 9, Name: "lab", EgressPorts: []uint32{1, 2}, UntaggedPorts: []uint32{2}}

// The described order is the one that is sent; a wrong one fails and leaves nothing.
func TestSNMP(t *testing.T) {
	const accton = "Accton_ECS4610-52T" // takes ports only behind the SET that makes the VLAN
	b := newBench(t, accton, config(accton, function("add_vlan_and_set_port", "snmp", "", two, "${vlan_name}$ ${egress_ports}$ ${untagged_ports}$")))
	got, err := b.write(t, asked, true, true)
	if err != nil || got.Name != "lab" || !slices.Equal(got.UntaggedPorts, []uint32{2}) {
		t.Errorf("%v %v", got, err)
	}
	b = newBench(t, accton, config(accton, function("add_vlan_and_set_port", "snmp", "", one)))
	if _, err := b.write(t, asked, true, true); err == nil {
		t.Error("the described order was not kept")
	}
	if v := b.vlan(t, 9); v != nil {
		t.Errorf("not removed: %v", v)
	}
	if _, err := b.write(t, &switchdriver.VLAN{VlanId: 10, Name: "x"}, true, false); err != nil {
		t.Errorf("what is not described is not done in the default way: %v", err)
	}
	const dlink = "D-Link_DGS-1510-28X" // takes PortLists of 48 octets only
	for digits, works := range map[int]bool{96: true, 16: false} {
		b = newBench(t, dlink, config(dlink, fmt.Sprintf("<port_number>28</port_number><vlan_port_list_value_hex_string_length>%d</vlan_port_list_value_hex_string_length>", digits)+
			function("add_vlan_and_set_port", "snmp", "", one)))
		if _, err := b.write(t, asked, true, true); (err == nil) != works {
			t.Errorf("lists of %d digits: %v", digits, err)
		}
		_, err = b.write(t, &switchdriver.VLAN{VlanId: 11, EgressPorts: []uint32{29}}, true, true)
		kind(t, err, fault.Invalid)
	}
}

const login = "<login><channel>telnet</channel><prompt_in_order><prompt><order>1</order><prompt_string>Login:</prompt_string><send_string>${user}$</send_string></prompt>" +
	"<prompt><order>2</order><prompt_string>Password:</prompt_string><send_string>${password}$</send_string></prompt></prompt_in_order></login>"

// By lines: the switch is changed, read back, and put back when a later line fails.
func TestLines(t *testing.T) {
	b := newBench(t, "generic", config("generic", login+
		function("add_vlan_and_set_port", "telnet", "", "create vlan ${vlan_id}$ {name ${vlan_name}$}", "set vlan ${vlan_id}$ {tagged ${tagged_ports}$} {untagged ${untagged_ports}$}")+
		function("delete_vlan", "telnet", "", "delete vlan ${vlan_id}$")))
	fail := ""
	c := b.console(t, func(line string) string {
		var err error
		ctx := context.Background()
		switch {
		case fail != "" && strings.HasPrefix(line, fail):
			return "% not today"
		case strings.HasPrefix(line, "create vlan 9"):
			_, err = b.standard.WriteVLAN(ctx, b.sw, &switchdriver.VLAN{VlanId: 9, Name: "lab"}, true, false)
		case strings.HasPrefix(line, "set vlan 9"):
			_, err = b.standard.WriteVLAN(ctx, b.sw, asked, false, true)
		case strings.HasPrefix(line, "delete vlan 9"):
			err = b.standard.DeleteVLAN(ctx, b.sw, 9)
		}
		if err != nil {
			return "% " + err.Error()
		}
		return "ok"
	})
	if got, err := b.write(t, asked, true, true); err != nil || !slices.Equal(got.EgressPorts, []uint32{1, 2}) {
		t.Errorf("%v %v", got, err)
	}
	if want := []string{"create vlan 9 name lab", "set vlan 9 tagged 1 untagged 2"}; !slices.Equal(c.lines(), want) {
		t.Errorf("typed %q", c.lines())
	}
	_, err := b.write(t, asked, true, true)
	kind(t, err, fault.Exists)
	remove := writes.Operation{Request: &pluginv1.DeleteVlanRequest{VlanId: 9}}
	if err := b.perform(t, remove); err != nil || b.vlan(t, 9) != nil {
		t.Errorf("removing: %v, %v", err, b.vlan(t, 9))
	}
	kind(t, b.perform(t, remove), fault.NotFound)
	for _, fail = range []string{"create", "set"} {
		_, err := b.write(t, asked, true, true)
		kind(t, err, fault.Downstream)
		if !strings.Contains(err.Error(), "not today") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", fail, err)
		}
		if v := b.vlan(t, 9); v != nil {
			t.Errorf("a failing %s leaves %v", fail, v)
		}
	}
	fail = ""
	sent := len(c.lines())
	bad := &switchdriver.VLAN{VlanId: 9, Name: "a b; reboot", EgressPorts: []uint32{1}}
	_, err = b.write(t, bad, true, true)
	kind(t, err, fault.Invalid)
	if len(c.lines()) != sent {
		t.Errorf("typed %q", c.lines()[sent:])
	}
}

// A switch that takes the lines and does nothing is found out.
func TestLinesIgnored(t *testing.T) {
	b := newBench(t, "generic", config("generic", login+function("add_vlan_and_set_port", "telnet", "", "create vlan ${vlan_id}$")))
	b.console(t, func(string) string { return "ok" })
	_, err := b.write(t, asked, true, true)
	kind(t, err, fault.Downstream)
}

func TestACLAndSTP(t *testing.T) {
	b := newBench(t, "generic", config("generic", login+
		function("create_acl_profile", "telnet", "<layer>ip</layer>", "create access_profile profile_id ${profile_id}$ profile_name ${profile_name}$ ip {vlan ${vlan_mask}$} {source_ip_mask ${src_ip_mask}$}")+
		function("set_acl_rule", "telnet", "", "config access_profile profile_id ${profile_id}$ add access_id ${rule_id}$ {ip source_ip ${src_ip}$} port ${port_list}$ ${action}$")+
		function("disable_stp", "telnet", "", "disable stp")))
	c := b.console(t, func(string) string { return "Success." })
	apply := func(action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) error {
		return b.perform(t, writes.Operation{Request: &pluginv1.ApplyAclRequest{Action: action, Profile: p, Rule: r}})
	}
	stp := func(port uint32) error {
		return b.perform(t, writes.Operation{Request: &pluginv1.WriteStpRequest{Port: port}})
	}
	mask := uint32(4095)
	p := &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "p1", Layer: "IP", VlanMask: &mask, SrcIpMask: "255.255.255.0"}
	if err := apply(pluginv1.ApplyAclRequest_ACTION_CREATE_PROFILE, p, nil); err != nil {
		t.Error(err)
	}
	r := &switchdriver.ACLRule{RuleId: 3, Ports: []uint32{1, 2}, SrcIp: "10.0.0.1", Action: "DENY", Layer: "IP"}
	if err := apply(pluginv1.ApplyAclRequest_ACTION_SET_RULE, p, r); err != nil {
		t.Error(err)
	}
	kind(t, apply(pluginv1.ApplyAclRequest_ACTION_CLEAR, nil, nil), fault.Unsupported)
	p.Layer = "ETHERNET"
	kind(t, apply(pluginv1.ApplyAclRequest_ACTION_CREATE_PROFILE, p, nil), fault.Unsupported)
	if err := stp(0); err != nil {
		t.Error(err)
	}
	if err := stp(3); err != nil || b.Nodes()[0].STPEnabled(3) {
		t.Errorf("a port, which is not described, by SNMP: %v", err)
	}
	want := []string{"create access_profile profile_id 1 profile_name p1 ip vlan 0x0fff source_ip_mask 255.255.255.0",
		"config access_profile profile_id 1 add access_id 3 ip source_ip 10.0.0.1 port 1,2 deny", "disable stp"}
	if !slices.Equal(c.lines(), want) {
		t.Errorf("typed %q", c.lines())
	}
}

// Prompts in brackets, doubled ones, and those that change with the mode end an answer, too.
func TestPromptsOfModes(t *testing.T) {
	for declared, prompts := range map[string]map[string]string{
		"&lt;zorg&gt;":  {"": "<zorg>", "system-view": "[zorg] ", "stp enable": "[zorg-stp-1]", "quit": "<zorg>"},
		"zorg&gt;&gt; ": {"": "zorg>> ", "system-view": "zorg(sys)>> ", "stp enable": "zorg(sys)>> ", "quit": "zorg>> "},
		"[zorg] ":       {"": "[zorg] ", "system-view": "[zorg] ", "stp enable": "[zorg-stp-1] ", "quit": "[zorg] "},
	} {
		last := "<prompt><order>3</order><prompt_string>" + declared + "</prompt_string><send_string></send_string></prompt></prompt_in_order>"
		b := newBench(t, "generic", config("generic", strings.Replace(login, "</prompt_in_order>", last, 1)+
			function("enable_stp", "telnet", "", "system-view", "stp enable", "quit")))
		c := b.console(t, func(string) string { return "Done." })
		c.mu.Lock()
		c.prompt = func(typed string) string { return prompts[typed] }
		c.mu.Unlock()
		if err := b.perform(t, writes.Operation{Request: &pluginv1.WriteStpRequest{Enable: true}}); err != nil || strings.Join(c.lines(), ",") != ",system-view,stp enable,quit" {
			t.Errorf("prompt %s: %v, typed %q", declared, err, c.lines())
		}
	}
}
