package service

import (
	"context"
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// A switch is named by all that the commands show of it; what names several is refused.
func TestNamed(t *testing.T) {
	inv := switchlist.New(nil)
	entries, problems := switchlist.Parse("lab.csv", []byte("MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model\n"+
		"02:00:00:00:00:01,192.0.2.1,c,,,m\n02:00:00:00:00:02,192.0.2.2,c,,,m\n02:00:00:00:00:03,192.0.2.3,c,,,m\n"))
	inv.Set("lab.csv", entries, problems)
	names := map[uint64]string{0x020000000001: "sw1", 0x020000000002: "Twin", 0x020000000003: "twin"}
	sv := discovery.New(discovery.Options{Inventory: inv, Observe: func(_ context.Context, sw *switchdriver.Switch) (*discovery.Observation, error) {
		return &discovery.Observation{Node: mib.MAC(sw.NodeId), SysName: names[sw.NodeId], Observed: time.Now()}, nil
	}})
	t.Cleanup(sv.Close)
	if _, err := sv.Discover(t.Context(), discovery.All, nil); err != nil {
		t.Fatal(err)
	}
	s := &Service{inventory: inv, survey: sv}
	for arg, c := range map[string]struct {
		node uint64
		kind fault.Kind
		text string
	}{
		"sw1":                     {0x020000000001, 0, ""},
		"SW1":                     {0x020000000001, 0, ""},
		"02:00:00:00:00:02":       {0x020000000002, 0, ""},
		"00:00:02:00:00:00:00:02": {0x020000000002, 0, ""}, // as PrintDB has it
		"2199023255555":           {0x020000000003, 0, ""},
		"020000000003":            {0x020000000003, 0, ""},
		"192.0.2.3":               {0x020000000003, 0, ""},
		"192.0.2.3:161":           {0x020000000003, 0, ""},
		"twin":                    {0, fault.Invalid, "02:00:00:00:00:02, 02:00:00:00:00:03; write the MAC address"},
		"sw9":                     {0, fault.NotFound, "switch:PrintDB"},
		"":                        {0, fault.NotFound, "switch:PrintDB"},
		"192.0.2.9":               {0, fault.NotFound, "switch:PrintDB"},
		"02:00:00:00:00:09":       {0, fault.NotFound, "lab.csv"},
		"7":                       {0, fault.NotFound, "there is no switch 7"},
	} {
		sw, err := s.findNamedSwitch(arg)
		switch {
		case c.node != 0 && (err != nil || sw.NodeId != c.node):
			t.Errorf("%q is %v, %v", arg, sw, err)
		case c.node == 0 && (err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text)):
			t.Errorf("%q: %v (%v)", arg, err, fault.KindOf(err))
		}
	}
	for prefix, want := range map[string]string{
		"s": "sw1", "t": "Twin twin", "192.0.2.2": "192.0.2.2:161", "02:00:00:00:00:01": "02:00:00:00:00:01", "x": "",
		"": "Twin sw1 twin 02:00:00:00:00:01 02:00:00:00:00:02 02:00:00:00:00:03",
	} {
		if got := strings.Join(s.completeSwitch(t.Context(), prefix), " "); got != want {
			t.Errorf("%q is completed by %q, want %q", prefix, got, want)
		}
	}
}

// Ports that are called by their names are distinguished from those that are called by a number.
func TestPortsThatAreMeant(t *testing.T) {
	names := portNames{1: "1", 2: "uplink", 3: "Gi1/0/3"}
	got := names.meantPorts([]string{"1", " UPLINK "}, []string{"3", "gi1/0/3", "2-3", "nope"})
	if len(got) != 2 || got[2] != "uplink" || got[3] != "Gi1/0/3" {
		t.Errorf("%v", got)
	}
}
