package bierdrivercli

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/lab/simcli"
	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/plugins/bier-driver-cli/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/plugintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the plugin as the controller runs it, and a router for it.
func start(t *testing.T, settings map[string]any) (*bierdriver.Client, *simcli.Router, *bierdriver.Router) {
	t.Helper()
	sim, err := simcli.Start(sshhost.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Down)
	p := plugintest.Start(t, sdk.Options{Manifest: manifest, New: device.Start}, plugintest.WithConfig(settings))
	return bierdriver.NewClient(p.Conn), sim,
		&bierdriver.Router{NodeId: "1", Host: sim.Host(), Port: uint32(sim.Port()), User: "lab", Password: "lab", HostKey: sim.HostKey()}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func config(id uint32, egress ...uint32) *bierdriver.Config {
	c := &bierdriver.Config{Global: &bierdriver.Global{EncapsulationType: "bier-encapsulation-mpls", Bitstringlength: 256, BfrId: id, Ipv4BfrPrefix: "192.0.2.1/32", Ipv6BfrPrefix: "2001:db8::1/128",
		SubDomains: []*bierdriver.SubDomain{
			{SubDomainId: 0, IgpType: "ISIS", Ipv4: []*bierdriver.Encapsulation{{Bitstringlength: 256, BierMplsLabelBase: 100, BierMplsLabelRangeSize: 4}}},
			{SubDomainId: 5, IgpType: "OSPF", MtId: 2, BfrId: 9, Bitstringlength: 64, Ipv6: []*bierdriver.Encapsulation{{Bitstringlength: 64, BierMplsLabelBase: 200, BierMplsLabelRangeSize: 1}}},
		}}}
	if len(egress) > 0 {
		c.Channels = []*bierdriver.Channel{{SourceAddress: "10.0.0.1", SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32, SubDomain: 5, IngressBfrId: id, EgressBfrIds: egress}}
	}
	return c
}

func apply(t *testing.T, d *bierdriver.Client, r *bierdriver.Router, c *bierdriver.Config, want bierdriver.Outcome) *bierdriver.Result {
	t.Helper()
	a, err := d.Apply(within(t), r, c, bierdriver.Always)
	if err != nil || a.State != want {
		t.Fatalf("%v, %v", a, err)
	}
	return a
}

func TestLifeOfAConfiguration(t *testing.T) {
	d, sim, r := start(t, map[string]any{})
	x, err := d.Describe(within(t))
	if err != nil || x.Probes || x.Name != "bier-driver-cli" {
		t.Fatalf("%+v, %v", x, err)
	}
	empty := sim.Config()
	a := apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
	if a.Messages == 0 || a.Session.State != bierdriver.Up || a.Session.HostKey != sim.HostKey() {
		t.Errorf("%v", a)
	}
	o, err := d.Read(within(t), r)
	if err != nil || !proto.Equal(o.Config, config(3, 1, 2)) {
		t.Errorf("%v, %v", o, err)
	}
	if a := apply(t, d, r, config(3, 1, 2), bierdriver.Applied); len(a.Edits) > 0 {
		t.Errorf("the same again: %q", a.Edits)
	}
	if a := apply(t, d, r, config(3, 1, 2, 8), bierdriver.Applied); len(a.Edits) != 1 || !strings.HasSuffix(a.Edits[0], "egress 8") {
		t.Errorf("one egress more: %q", a.Edits)
	}
	before := sim.Config()
	dry, err := d.Apply(within(t), r, &bierdriver.Config{}, nil)
	if err != nil || len(dry.Edits) != 2 || sim.Config() != before {
		t.Errorf("a dry run: %v, %v", dry, err)
	}
	apply(t, d, r, config(4, 8), bierdriver.Applied)
	if o, err := d.Read(within(t), r); err != nil || !proto.Equal(o.Config, config(4, 8)) {
		t.Errorf("%v, %v", o, err)
	}
	apply(t, d, r, &bierdriver.Config{}, bierdriver.Applied)
	if sim.Config() != empty {
		t.Errorf("left over:\n%s", sim.Config())
	}
}

func TestFaultsLeaveNothingHalfApplied(t *testing.T) {
	for name, c := range map[string]struct {
		f    simcli.Faults
		want bierdriver.Outcome
	}{
		"a line refused":       {simcli.Faults{Refuse: "egress 7"}, bierdriver.Failed},
		"a header refused":     {simcli.Faults{Refuse: "router bier"}, bierdriver.Failed},
		"taking back refused":  {simcli.Faults{Refuse: "no egress"}, bierdriver.Failed},
		"no configuring":       {simcli.Faults{Refuse: "configure"}, bierdriver.Failed},
		"no showing":           {simcli.Faults{Refuse: "show"}, bierdriver.Failed},
		"a line ignored":       {simcli.Faults{Ignore: "egress 7"}, bierdriver.Failed},
		"saving refused":       {simcli.Faults{Refuse: "write memory"}, bierdriver.Failed},
		"hangs up at saving":   {simcli.Faults{Hangup: "write memory"}, bierdriver.Pending},
		"octet by octet":       {simcli.Faults{Pieces: 1}, bierdriver.Applied},
		"drawn again":          {simcli.Faults{Redraw: true}, bierdriver.Applied},
		"drawn octet by octet": {simcli.Faults{Redraw: true, Pieces: 1}, bierdriver.Applied},
		"drawn and refused":    {simcli.Faults{Redraw: true, Pieces: 3, Refuse: "egress 7"}, bierdriver.Failed},
		"hangs up at once":     {simcli.Faults{Hangup: "terminal"}, bierdriver.Pending},
		"hangs up half way":    {simcli.Faults{Hangup: "egress 7"}, bierdriver.Pending},
		"silent half way":      {simcli.Faults{Mute: "egress 7"}, bierdriver.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := "1m"
			if c.f.Mute != "" { // silence is to be short
				patience = "3s"
			}
			d, sim, r := start(t, map[string]any{"line": patience})
			apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			before := sim.Config()
			sim.Set(c.f)
			a := apply(t, d, r, config(4, 6, 7), c.want)
			if c.want == bierdriver.Failed && c.f.Refuse != "router bier" && c.f.Refuse != "no egress" {
				if o, err := d.Read(within(t), r); err == nil && !proto.Equal(o.Config, config(3, 1, 2)) {
					t.Errorf("not applied (%s), but the router holds\n%s\ninstead of\n%s", a.Reason, sim.Config(), before)
				}
			}
			sim.Set(simcli.Faults{})
			apply(t, d, r, config(4, 6, 7), bierdriver.Applied)
			if typed := sim.Typed(); typed[len(typed)-1] != "write memory" && c.want != bierdriver.Applied {
				t.Errorf("in the end not saved: %q", typed[len(typed)-3:])
			}
			if o, err := d.Read(within(t), r); err != nil || !proto.Equal(o.Config, config(4, 6, 7)) {
				t.Errorf("in the end: %v, %v", o, err)
			}
		})
	}
}

// Whatever a configuration says, nothing but values reach the command line.
func TestNothingIsSmuggledIn(t *testing.T) {
	d, sim, r := start(t, map[string]any{})
	for _, evil := range []string{
		"1.2.3.4\nreload", "1.2.3.4\rreload", "1.2.3.4; reload", "1.2.3.4 | reload", "?", "1.2.3.4 vpn 9", "$(reload)", "`reload`", "{bfr-id}",
		"1.2.3.4\x00", "1.2.3.4\x1b[A", "1.2.3.4\x03", "fe80::1%reload", "1.2.3.4/32\nreload", "ÿ", "!", " ", "no router bier", "%", "\t", "exit\nreload", "ISIS\nreload",
	} {
		for field, set := range map[string]func(*bierdriver.Config){
			"source":  func(c *bierdriver.Config) { c.Channels[0].SourceAddress = evil },
			"group":   func(c *bierdriver.Config) { c.Channels[0].GroupAddress = evil },
			"ipv4":    func(c *bierdriver.Config) { c.Global.Ipv4BfrPrefix = evil },
			"ipv6":    func(c *bierdriver.Config) { c.Global.Ipv6BfrPrefix = evil },
			"igp":     func(c *bierdriver.Config) { c.Global.SubDomains[0].IgpType = evil },
			"encaps.": func(c *bierdriver.Config) { c.Global.EncapsulationType = "bier-encapsulation-" + evil },
		} {
			c := config(3, 1)
			set(c)
			if !validUTF8(evil) {
				continue // the wire to the plugin refuses it already
			}
			if a := apply(t, d, r, c, bierdriver.Failed); !strings.Contains(a.Reason, "command line") {
				t.Errorf("%s %q: %v", field, evil, a)
			}
		}
	}
	if typed := sim.Typed(); len(typed) > 0 {
		t.Errorf("typed all the same: %q", typed)
	}
}

func validUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

func TestWatchLooks(t *testing.T) {
	d, sim, r := start(t, map[string]any{"poll": "20ms"})
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	w, err := d.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Set([]*bierdriver.Router{r}, nil); err != nil {
		t.Fatal(err)
	}
	until := func(is func(*bierdriver.Event) bool) *bierdriver.Event {
		t.Helper()
		for {
			e, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			if is(e) {
				return e
			}
		}
	}
	state := func(s bierdriver.SessionState) {
		t.Helper()
		until(func(e *bierdriver.Event) bool { return e.Session.GetState() == s })
	}
	state(bierdriver.Up)
	apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
	if !sim.Change("router bier", "bfr-id 99") {
		t.Fatal("the router does not take the change")
	}
	if e := until(func(e *bierdriver.Event) bool { return e.Drift != nil }); !strings.Contains(e.Drift.What, "bfr-id") {
		t.Errorf("%v", e.Drift)
	}
	apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
	sim.Down()
	state(bierdriver.Down)
	if err := sim.Up(""); err != nil {
		t.Fatal(err)
	}
	state(bierdriver.Up)
	if err := sim.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	state(bierdriver.Refused)
}

// A freeRtr chooses labels itself, counts tunnels, names egress routers by address, and
// sends to a changed list only when the mode is given again. What is not ours stays.
func TestTemplatesOfFreeRtr(t *testing.T) {
	text, err := os.ReadFile("testdata/freertr.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]any
	if err := yaml.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	d, sim, r := start(t, settings)
	if x, err := d.Describe(within(t)); err != nil || !x.Members || x.Dialects[0] != "freertr" {
		t.Fatalf("%+v, %v", x, err)
	}
	sim.Set(simcli.Faults{Redraw: true})
	sim.Change("router lsrp4 1", "vrf v1", "router-id 4.4.4.1")
	sim.Change("interface tunnel5", "description another's", "tunnel mode gre")
	empty := sim.Config()
	want := func(egress ...uint32) *bierdriver.Config {
		c := &bierdriver.Config{Global: &bierdriver.Global{Bitstringlength: 256, BfrId: 1, SubDomains: []*bierdriver.SubDomain{{}}},
			Channels: []*bierdriver.Channel{
				{SourceAddress: "10.0.0.1", SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32, IngressBfrId: 1, EgressBfrIds: egress, Role: bierdriver.Ingress},
				{SourceAddress: "10.0.0.1", SourceWildcard: 32, GroupAddress: "232.0.0.2", GroupWildcard: 32, IngressBfrId: 2, EgressBfrIds: []uint32{1}, Role: bierdriver.Egress},
			}}
		for id := uint32(2); id < 12; id++ {
			c.Members = append(c.Members, &bierdriver.Member{BfrId: id, Ipv4BfrPrefix: fmt.Sprintf("2.2.2.%d/32", id)})
		}
		return c
	}
	tunnel := func() string {
		t.Helper()
		at := regexp.MustCompile("interface tunnel[0-9]{2,}").FindAllString(sim.Config(), -1)
		if len(at) != 1 {
			t.Fatalf("one tunnel is wanted:\n%s", sim.Config())
		}
		return at[0]
	}
	apply(t, d, r, want(10, 3), bierdriver.Applied)
	if does := sim.Does(tunnel()); does != "2.2.2.3 2.2.2.10" {
		t.Errorf("it sends to %q", does)
	}
	apply(t, d, r, want(2, 3), bierdriver.Applied)
	if does := sim.Does(tunnel()); does != "2.2.2.2 2.2.2.3" {
		t.Errorf("after the change it sends to %q", does)
	}
	if a := apply(t, d, r, want(2, 3), bierdriver.Applied); len(a.Edits) > 0 {
		t.Errorf("the same again: %q", a.Edits)
	}
	o, err := d.Read(within(t), r)
	if err != nil || len(o.Config.Channels) != 1 || fmt.Sprint(o.Config.Channels[0].EgressBfrIds) != "[2 3]" || o.Config.Channels[0].GroupAddress != "232.0.0.1" ||
		o.Config.Global.SubDomains[0].BfrId != 1 {
		t.Errorf("%v, %v", o, err)
	}
	if a := apply(t, d, r, want(2, 99), bierdriver.Failed); !strings.Contains(a.Reason, "bfr-id 99 in sub-domain 0 has no ipv4-bfr-prefix") {
		t.Errorf("an address that is not known: %v", a)
	}
	apply(t, d, r, &bierdriver.Config{}, bierdriver.Applied)
	if sim.Config() != empty {
		t.Errorf("left over:\n%s\ninstead of\n%s", sim.Config(), empty)
	}
}

// The ports of a channel are configured at its egress router, changed, and removed; what is no name of a port is not
// typed.
func TestPortsOfAnEgressRouter(t *testing.T) {
	d, sim, r := start(t, map[string]any{})
	if x, err := d.Describe(within(t)); err != nil || slices.Contains(x.Lacks, bierdriver.Ports) {
		t.Fatalf("%+v, %v", x, err)
	}
	c := config(3, 3)
	c.Channels[0].Role, c.Channels[0].Ports = bierdriver.Egress, []string{"eth0/1", "eth0/2"}
	apply(t, d, r, c, bierdriver.Applied)
	o, err := d.Read(within(t), r)
	if err != nil || fmt.Sprint(o.Config.Channels[0].Ports) != "[eth0/1 eth0/2]" {
		t.Errorf("%v, %v", o, err)
	}
	c.Channels[0].Ports = []string{"eth0/2"}
	if a := apply(t, d, r, c, bierdriver.Applied); len(a.Edits) != 1 || !strings.HasSuffix(a.Edits[0], "no port eth0/1") {
		t.Errorf("one port less: %q", a.Edits)
	}
	c.Channels[0].Ports = nil
	apply(t, d, r, c, bierdriver.Applied)
	if strings.Contains(sim.Config(), "port") {
		t.Errorf("left over:\n%s", sim.Config())
	}
	for _, evil := range []string{"eth0; reload", "eth0\nreload", "", "-1", strings.Repeat("e", 65)} {
		c.Channels[0].Ports = []string{evil}
		apply(t, d, r, c, bierdriver.Failed)
	}
	if strings.Contains(fmt.Sprint(sim.Typed()), "reload") {
		t.Errorf("typed all the same: %q", sim.Typed())
	}
}

func TestBadTemplatesAreNamed(t *testing.T) {
	for path, settings := range map[string]map[string]any{
		"templates/bier/global":    {"templates": map[string]any{"bier": map[string]any{"global": []string{"bfr-id {bfr-id}", "x {colour}"}}}},
		"templates/channel/header": {"templates": map[string]any{"channel": map[string]any{"header": "channel {source-address}"}}},
		"templates/channel/again":  {"templates": map[string]any{"channel": map[string]any{"again": []string{"reload\n"}}}},
		"templates/bier/header":    {"templates": map[string]any{"bier": map[string]any{"header": "router\nreload"}}},
		"prompt":                   {"prompt": "("},
		"line":                     {"line": "soon"},
	} {
		if _, err := plugintest.StartError(t, sdk.Options{Manifest: manifest, New: device.Start}, plugintest.WithConfig(settings)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
