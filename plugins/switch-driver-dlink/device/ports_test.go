package device

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// before is a port with power as the switch comes.
func before() *switchdriver.PortSettings {
	return &switchdriver.PortSettings{Port: 7, Up: new(true), Description: new("old"), Power: new(true), PowerPriority: new(switchdriver.PowerLow),
		PowerLimit: new(uint32(15_400)), Speed: new(uint32(0)), Duplex: new(uint32(0))}
}

func TestPortLines(t *testing.T) {
	for name, k := range map[string]struct {
		want        *switchdriver.PortSettings
		lines, back string
		kind        fault.Kind // with path; Internal: none
		path        string
	}{
		"as it is":      {&switchdriver.PortSettings{Up: new(true), Description: new("old"), Power: new(true)}, "", "", fault.Internal, ""},
		"down":          {&switchdriver.PortSettings{Up: new(false)}, "config ports 7-7 state disable", "config ports 7-7 state enable", fault.Internal, ""},
		"a description": {&switchdriver.PortSettings{Description: new("room 3")}, `config ports 7-7 description "room 3"`, `config ports 7-7 description "old"`, fault.Internal, ""},
		"none":          {&switchdriver.PortSettings{Description: new("")}, "config ports 7-7 clear_description", `config ports 7-7 description "old"`, fault.Internal, ""},
		"a quote":       {&switchdriver.PortSettings{Description: new(`a" b`)}, "", "", fault.Invalid, "description"},
		"a command":     {&switchdriver.PortSettings{Description: new("a;reboot")}, "", "", fault.Invalid, "description"},
		"33 characters": {&switchdriver.PortSettings{Description: new(strings.Repeat("x", 33))}, "", "", fault.Invalid, "description"},
		"power":         {&switchdriver.PortSettings{Power: new(false)}, "config poe ports 7-7 state disable", "config poe ports 7-7 state enable", fault.Internal, ""},
		"priority":      {&switchdriver.PortSettings{PowerPriority: new(switchdriver.PowerCritical)}, "config poe ports 7-7 priority critical", "config poe ports 7-7 priority low", fault.Internal, ""},
		"limit":         {&switchdriver.PortSettings{PowerLimit: new(uint32(7000))}, "config poe ports 7-7 power_limit user_define 7000", "config poe ports 7-7 power_limit user_define 15400", fault.Internal, ""},
		"limit too low": {&switchdriver.PortSettings{PowerLimit: new(uint32(999))}, "", "", fault.Invalid, "power-limit"},
		"speed":         {&switchdriver.PortSettings{Speed: new(uint32(100))}, "config ports 7-7 speed 100_full", "config ports 7-7 speed auto", fault.Internal, ""},
		"half":          {&switchdriver.PortSettings{Speed: new(uint32(10)), Duplex: new(switchdriver.DuplexHalf)}, "config ports 7-7 speed 10_half", "config ports 7-7 speed auto", fault.Internal, ""},
		"10 Gbit/s":     {&switchdriver.PortSettings{Speed: new(uint32(10_000))}, "", "", fault.Unsupported, "speed"},
		"duplex alone":  {&switchdriver.PortSettings{Speed: new(uint32(100)), Duplex: new(uint32(0))}, "", "", fault.Unsupported, "duplex"},
		"state comes last": {&switchdriver.PortSettings{Up: new(false), Power: new(false)}, "config poe ports 7-7 state disable\nconfig ports 7-7 state disable",
			"config poe ports 7-7 state enable\nconfig ports 7-7 state enable", fault.Internal, ""},
	} {
		k.want.Port = 7
		lines, back, err := PortLines(k.want, before())
		if err == nil && (strings.Join(lines, "\n") != k.lines || strings.Join(back, "\n") != k.back || k.path != "") {
			t.Errorf("%s: %q, back %q", name, lines, back)
		}
		if err != nil && (fault.KindOf(err) != k.kind || fault.All(err)[0].Path != k.path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	none := &switchdriver.PortSettings{Port: 7, Up: new(true)}
	if _, _, err := PortLines(&switchdriver.PortSettings{Port: 7, Power: new(true)}, none); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("a port without power: %v", err)
	}
}

// Answers in the form of D-Link's manuals.
func TestPortAnswers(t *testing.T) {
	p := NewParser()
	ports := p.Ports(` Port   State/          Settings             Connection           Address
        MDIX       Speed/Duplex/FlowCtrl  Speed/Duplex/FlowCtrl   Learning
 -----  --------  ---------------------  ----------------------  ---------
 1      Enabled   Auto/Disabled          1000M/Full/None         Enabled
        Auto
        Desc: room 3
 2      Disabled  100M/Half/Enabled      Link Down               Enabled
        Auto
        Desc:
 2:3    Enabled   Auto/Enabled           1000M/Full/802.3x       Enabled
        Auto
`)
	p.AddPower(` Port  State    Priority  Power Limit(mW)   Time Range
       Class    Power(mW) Voltage(decivolt) Current(mA)
       Status
 ==============================================================================
 1     Enabled  High      16200(Class 0)
       3        5400      532               101
       ON : 802.3af-compliant PD was detected
 2     Disabled Low       7000(User-define)
       N/A      0         0                 0
       OFF : Port is off due to the user setting
`, ports)
	want := []*switchdriver.PortSettings{
		{Port: 1, Up: new(true), Description: new("room 3"), Speed: new(uint32(0)), Duplex: new(uint32(0)), LinkSpeed: new(uint32(1000)), LinkDuplex: new(switchdriver.DuplexFull),
			FlowControl: new(uint32(1)), Power: new(true), PowerPriority: new(switchdriver.PowerHigh), PowerLimit: new(uint32(16_200)), PowerClass: new(uint32(3)), PowerDrawn: new(uint32(5400)), PowerStatus: new(uint32(3))},
		{Port: 2, Up: new(false), Description: new(""), Speed: new(uint32(100)), Duplex: new(switchdriver.DuplexHalf),
			Power: new(false), PowerPriority: new(switchdriver.PowerLow), PowerLimit: new(uint32(7000)), PowerDrawn: new(uint32(0)), PowerStatus: new(uint32(1))},
		{Port: 67, Up: new(true), Description: new(""), Speed: new(uint32(0)), Duplex: new(uint32(0)), LinkSpeed: new(uint32(1000)), LinkDuplex: new(switchdriver.DuplexFull), FlowControl: new(uint32(4))},
	}
	if d := cmp.Diff(want, ports, protocmp.Transform()); d != "" {
		t.Error(d)
	}
	if got := p.Ports("Available commands:\r\n.. ?"); len(got) != 0 {
		t.Errorf("what is no answer: %v", got)
	}
}
