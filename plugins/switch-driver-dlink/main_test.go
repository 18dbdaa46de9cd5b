package switchdriverdlink

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"

	"ctl.internal/internal/lab/simdlink"
	"ctl.internal/plugins/switch-driver-dlink/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

const password = "s3cret-of-the-switch"

func simulate(t *testing.T) *simdlink.Switch {
	t.Helper()
	sim, err := simdlink.Start(simdlink.Options{Password: password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

func start(t *testing.T, settings map[string]any, opts ...plugintest.Option) *plugintest.Plugin {
	t.Helper()
	return plugintest.Start(t, sdk.Options{Manifest: manifest, New: device.New, Commands: device.Commands()}, append(opts, plugintest.WithConfig(settings))...)
}

// at is a switch by telnet or SSH.
func at(transport string, port int) *switchdriver.Switch {
	return &switchdriver.Switch{NodeId: 0x9094e42313e0, Address: "127.0.0.1", Model: "D-Link_DGS-3120",
		Cli: &pluginv1.CliAccess{Transport: transport, Port: uint32(port), User: "admin", Password: password}}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestConformance(t *testing.T) {
	for _, transport := range []string{"telnet", "ssh"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, func(t *testing.T) conformance.Peer {
				sim := simulate(t)
				port := map[string]int{"telnet": sim.TelnetPort(), "ssh": sim.SSHPort()}[transport]
				return conformance.Peer{
					Conn:   start(t, map[string]any{"timeout": "5s"}).Conn,
					Switch: at(transport, port), Ports: []uint32{1, 2, 28}, Sent: sim.Sent,
					At: func(_ string, port uint16) *switchdriver.Switch { return at(transport, int(port)) },
				}
			})
		})
	}
}

// What is typed is what D-Link documents, and what the switch keeps.
func TestWhatIsTyped(t *testing.T) {
	sim := simulate(t)
	d := switchdriver.NewClient(start(t, map[string]any{"save": true, "prepare": []string{"disable clipaging"}, "port": sim.TelnetPort()}).Conn)
	sw := at("", 0)
	ctx := within(t)
	p := &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "web", Layer: "IP", SrcIpMask: "255.255.255.0"}
	for _, err := range []error{
		d.ApplyACL(ctx, sw, switchdriver.ACLCreateProfile, p, nil),
		d.ApplyACL(ctx, sw, switchdriver.ACLSetRule, p, &switchdriver.ACLRule{RuleId: 3, Layer: "IP", SrcIp: "192.0.2.0", Ports: []uint32{1, 2}, Action: "DENY"}),
		d.WriteSTP(ctx, sw, 0, false), d.WriteSTP(ctx, sw, 7, false), d.WriteSTP(ctx, sw, 7, false),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `create access_profile profile_id 1 profile_name web ip source_ip_mask 255.255.255.0
save
config access_profile profile_id 1 add access_id 3 ip source_ip 192.0.2.0 port 1,2 deny
save
disable stp
save
config stp ports 7-7 state disable
save`
	if got := strings.Join(sim.Sent(), "\n"); got != want {
		t.Errorf("typed\n%s\nwant\n%s", got, want)
	}
	if !sim.Saved() || !strings.Contains(sim.Config(), "add access_id 3 ip source_ip 192.0.2.0 port 1,2 deny") {
		t.Errorf("the switch keeps\n%s", sim.Config())
	}
}

// A switch that misbehaves costs one call, reports why, and is as it was.
func TestMisbehaving(t *testing.T) {
	create := "create access_profile"
	for name, c := range map[string]struct {
		f    simdlink.Faults
		kind fault.Kind // of a change; Internal: it succeeds
		text string
	}{
		"refuses":             {simdlink.Faults{Refuse: create}, fault.Downstream, "The switch is busy. / Fail!"},
		"says yes, does no":   {simdlink.Faults{Ignore: create}, fault.Downstream, "does not show it"},
		"another mask":        {simdlink.Faults{Mishear: [2]string{"255.0.0.0", "255.255.0.0"}}, fault.Downstream, `dst-ip-mask "255.255.0.0"; it is taken back`},
		"another layer":       {simdlink.Faults{Mishear: [2]string{"ip destination_ip_mask 255.0.0.0", "ethernet vlan 0x0fff"}}, fault.Downstream, `the layer "ETHERNET"; it is taken back`},
		"another mask, kept":  {simdlink.Faults{Mishear: [2]string{"255.0.0.0", "255.255.0.0"}, Refuse: "delete"}, fault.Downstream, "it could not be undone: switch 90:94:e4:23:13:e0 (127.0.0.1) refuses"},
		"hangs up":            {simdlink.Faults{Hangup: create}, fault.Downstream, "127.0.0.1"},
		"falls silent":        {simdlink.Faults{Mute: create}, fault.Timeout, "127.0.0.1"},
		"half an answer":      {simdlink.Faults{Truncate: "show access_profile"}, fault.Downstream, "127.0.0.1"},
		"garbage":             {simdlink.Faults{Garbage: "show access_profile"}, fault.Downstream, "cannot be read"},
		"cannot show":         {simdlink.Faults{Refuse: "show"}, fault.Downstream, "cannot be read"},
		"octet by octet":      {simdlink.Faults{Pieces: 1}, fault.Internal, ""},
		"slow":                {simdlink.Faults{Delay: 30 * time.Millisecond}, fault.Internal, ""},
		"pages all the same":  {simdlink.Faults{Pages: true}, fault.Internal, ""},
		"a prompt of its own": {simdlink.Faults{Prompt: "Lab-Switch>"}, fault.Internal, ""},
		"no prompt":           {simdlink.Faults{Prompt: "please wait..."}, fault.Timeout, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := simulate(t)
			patience := "50s"
			if c.kind == fault.Timeout { // silence is to be short
				patience = "5s"
			}
			d := switchdriver.NewClient(start(t, map[string]any{"timeout": patience, "prepare": []string{"disable clipaging"}}).Conn)
			sw := at("", sim.TelnetPort())
			for id := uint32(1); id <= 4; id++ { // more than a page
				p := &switchdriver.ACLProfile{ProfileId: id, ProfileName: "p" + string(rune('0'+id)), Layer: "IP", SrcIpMask: "255.255.255.0"}
				if err := d.ApplyACL(within(t), sw, switchdriver.ACLCreateProfile, p, nil); err != nil {
					t.Fatal(err)
				}
			}
			before := sim.Config()
			sim.Set(c.f)
			err := d.ApplyACL(within(t), sw, switchdriver.ACLCreateProfile, &switchdriver.ACLProfile{ProfileId: 6, ProfileName: "new", Layer: "IP", DstIpMask: "255.0.0.0"}, nil)
			sim.Set(simdlink.Faults{})
			if c.kind == fault.Internal {
				if err != nil || sim.Config() == before {
					t.Errorf("%v", err)
				}
				return
			}
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), password) {
				t.Errorf("%v (%v)", err, fault.KindOf(err))
			}
			if sim.Config() != before && c.f.Mute == "" && c.f.Refuse != "delete" { // silence says nothing
				t.Errorf("changed:\n%s", sim.Config())
			}
			if err := d.WriteSTP(within(t), sw, 0, false); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// A rule that the switch makes otherwise is not left there.
func TestRuleMadeOtherwise(t *testing.T) {
	sim := simulate(t)
	d := switchdriver.NewClient(start(t, map[string]any{"timeout": "50s"}).Conn)
	sw := at("", sim.TelnetPort())
	p := &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "web", Layer: "IP", SrcIpMask: "255.255.255.0"}
	if err := d.ApplyACL(within(t), sw, switchdriver.ACLCreateProfile, p, nil); err != nil {
		t.Fatal(err)
	}
	before := sim.Config()
	for want, mishear := range map[string][2]string{`src-ip "198.51.100.0"`: {"192.0.2.9", "198.51.100.0"}, "the ports [1 2 3]": {"port 1,3", "port 1-3"}, `action "PERMIT"`: {"deny", "permit"}} {
		sim.Set(simdlink.Faults{Mishear: mishear})
		r := &switchdriver.ACLRule{RuleId: 3, Layer: "IP", SrcIp: "192.0.2.9", Ports: []uint32{1, 3}, Action: "DENY"}
		err := d.ApplyACL(within(t), sw, switchdriver.ACLSetRule, p, r)
		if fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), want+"; it is taken back") {
			t.Errorf("%v, want %q", err, want)
		}
		if sim.Config() != before {
			t.Errorf("changed:\n%s", sim.Config())
		}
	}
}

// A wrong password is reported as such, once, and shown nowhere.
func TestLogins(t *testing.T) {
	var log logs
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(old) })
	sim := simulate(t)
	d := switchdriver.NewClient(start(t, map[string]any{"timeout": "50s"}).Conn)
	for transport, port := range map[string]int{"telnet": sim.TelnetPort(), "ssh": sim.SSHPort()} {
		if err := d.WriteSTP(within(t), at(transport, port), 0, true); err != nil {
			t.Errorf("%s: %v", transport, err)
		}
		sw := at(transport, port)
		sw.Cli.Password = "wr0ng-pass"
		err := d.WriteSTP(within(t), sw, 0, true)
		if fault.KindOf(err) != fault.Denied || strings.Contains(err.Error(), "wr0ng-pass") {
			t.Errorf("%s: %v (%v)", transport, err, fault.KindOf(err))
		}
	}
	if s := log.String(); strings.Contains(s, password) || strings.Contains(s, "wr0ng-pass") {
		t.Errorf("the log has a password:\n%s", s)
	}
}

type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The SSH host key that was seen first is asked for from then on, by the next process
// of the plugin too.
func TestHostKeys(t *testing.T) {
	sim := simulate(t)
	host := plugintest.NewHost(t)
	sw := at("ssh", sim.SSHPort())
	call := func(settings map[string]any) error {
		return switchdriver.NewClient(start(t, settings, plugintest.WithHost(host)).Conn).WriteSTP(within(t), sw, 0, true)
	}
	known := map[string]any{"host_keys": "known"}
	if err := call(known); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "known_hosts") {
		t.Errorf("an unknown key: %v", err)
	}
	known["known_hosts"] = map[string]any{"127.0.0.1": sim.HostKey()}
	for _, s := range []map[string]any{known, {}, {}} {
		if err := call(s); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
	if err := sim.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	for remedy, s := range map[string]map[string]any{"known_hosts of etc/switch-driver-dlink.yaml": known, "dlink:hostkeys --forget 127.0.0.1/": {}} {
		if err := call(s); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), remedy) {
			t.Errorf("another key, %v: %v (%v)", s, err, fault.KindOf(err))
		}
	}
	if err := call(map[string]any{"host_keys": "any"}); err != nil {
		t.Errorf("any key: %v", err)
	}
	p := start(t, map[string]any{}, plugintest.WithHost(host))
	if out, err := p.Shell(within(t), "dlink:hostkeys", nil, map[string]string{"forget": "127.0.0.1"}); err != nil || !strings.Contains(out, "forgotten: 127.0.0.1/") {
		t.Errorf("forgetting: %q %v", out, err)
	}
	if err := call(map[string]any{}); err != nil {
		t.Errorf("the new key is not taken: %v", err)
	}
}

// Many at one switch come one after the other; switches do not wait for each other.
func TestManyAtOnce(t *testing.T) {
	sim := simulate(t)
	d := switchdriver.NewClient(start(t, map[string]any{"timeout": "60s"}).Conn)
	sw := at("", sim.TelnetPort())
	p := &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "web", Layer: "IP", SrcIpMask: "255.255.255.0"}
	if err := d.ApplyACL(within(t), sw, switchdriver.ACLCreateProfile, p, nil); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for id := uint32(1); id <= 10; id++ {
		all.Go(func() {
			r := &switchdriver.ACLRule{RuleId: id, Layer: "IP", SrcIp: "192.0.2.0", Ports: []uint32{1}, Action: "PERMIT"}
			if err := d.ApplyACL(within(t), sw, switchdriver.ACLSetRule, p, r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := strings.Count(sim.Config(), "add access_id"); n != 10 {
		t.Errorf("%d rules of 10", n)
	}
}

func TestBadSettings(t *testing.T) {
	for path, settings := range map[string]map[string]any{
		"timeout":               {"timeout": "soon"},
		"prepare":               {"prepare": []string{"show x?"}},
		"known_hosts":           {"known_hosts": map[string]any{"switch.example": strings.Repeat("x", 30)}},
		"known_hosts/192.0.2.1": {"known_hosts": map[string]any{"192.0.2.1": strings.Repeat("x", 30)}},
		"transport":             {"transport": "rsh"},
	} {
		if _, err := plugintest.StartError(t, sdk.Options{Manifest: manifest, New: device.New, Commands: device.Commands()}, plugintest.WithConfig(settings)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Settings of a port are made whole or taken back, and a port that was bounced is up.
func TestPortSettings(t *testing.T) {
	sim := simulate(t)
	d := switchdriver.NewClient(start(t, map[string]any{"timeout": "5s", "port": sim.TelnetPort()}).Conn)
	ctx, sw := within(t), at("", 0)
	want := &switchdriver.PortSettings{Port: 7, Description: new("room 3"), Power: new(false), Up: new(false)}
	for name, k := range map[string]struct {
		f    simdlink.Faults
		text string
	}{
		"refuses":           {simdlink.Faults{Refuse: "config ports 7-7 state disable"}, "The switch is busy. / Fail!; it is taken back"},
		"says yes, does no": {simdlink.Faults{Ignore: "config ports 7-7 state disable"}, "with up true; it is taken back"},
		"hangs up":          {simdlink.Faults{Hangup: "config ports 7-7 state disable"}, "it is taken back"},
		"refuses the power": {simdlink.Faults{Refuse: "config poe ports 7-7 state", Ignore: "config ports 7-7 description"}, "The switch is busy"},
	} {
		sim.Set(k.f)
		if err := d.WritePortSettings(ctx, sw, want); err == nil || !strings.Contains(err.Error(), k.text) {
			t.Errorf("a switch that %s: %v", name, err)
		}
		sim.Set(simdlink.Faults{})
		if config := sim.Config(); strings.Contains(config, "config ports") || strings.Contains(config, "config poe") {
			t.Errorf("a switch that %s keeps\n%s", name, config)
		}
	}
	r := &pluginv1.WritePortSettingsRequest{Settings: &switchdriver.PortSettings{Port: 7, Up: new(true)}, Bounce: 100}
	sent := len(sim.Sent())
	if _, err := switchdriver.Do(ctx, d, sw, r); err != nil {
		t.Error(err)
	}
	if got := strings.Join(sim.Sent()[sent:], "\n"); got != "config ports 7-7 state disable\nconfig ports 7-7 state enable" {
		t.Errorf("a bounce typed\n%s", got)
	}
	if _, _, err := d.ReadPortSettings(ctx, sw, 99); fault.KindOf(err) != fault.NotFound {
		t.Errorf("port 99: %v", err)
	}
}
