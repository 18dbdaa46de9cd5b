package conformance

import (
	"slices"
	"strings"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// portSettings checks that each setting of a port is changed and read back, or refused by its name, and that the
// others stay.
func portSettings(k *kit) {
	port := k.Ports[0]
	before := k.settingsOf(port)
	others := k.otherSettings(port)
	k.t.Cleanup(func() { k.restoreSettings(before) })
	for _, s := range []*switchdriver.PortSettings{
		{Description: new("conformance kit")},
		{Description: new("")},
		{Up: new(false)},
		{Up: new(true)},
		{PowerPriority: new(switchdriver.PowerHigh)},
		{PowerLimit: new(uint32(7000))},
		{Power: new(false)},
		{Power: new(true)},
		{
			Speed:  new(uint32(100)),
			Duplex: new(switchdriver.DuplexFull),
		},
		{Speed: new(uint32(0)), Duplex: new(uint32(0))},
	} {
		s.Port = port
		k.writeSettings(s)
	}
	if now := k.otherSettings(port); now != others {
		k.t.Errorf("the settings of other ports were changed from\n%s\nto\n%s", others, now)
	}
	gone := &switchdriver.PortSettings{
		Port: 65000,
		Up:   new(false),
	}
	k.checkRefused(
		"settings of a port that is not there",
		k.client.WritePortSettings(k.testContext(), k.Switch, gone),
		fault.NotFound,
	)
	_, _, err := k.client.ReadPortSettings(k.testContext(), k.Switch, 65000)
	k.checkRefused("reading the settings of a port that is not there", err, fault.NotFound)
}

// writeSettings makes a change that must show, or be refused by the name of the field before anything is sent.
func (k *kit) writeSettings(s *switchdriver.PortSettings) {
	k.t.Helper()
	sent := len(k.sentCommands())
	err := k.client.WritePortSettings(k.testContext(), k.Switch, s)
	if err == nil {
		k.checkShown("WritePortSettings", &pluginv1.WritePortSettingsRequest{Settings: s})
		return
	}
	if fault.KindOf(err) != fault.Unsupported {
		k.t.Errorf("WritePortSettings %v: %v", s, err)
		return
	}
	for _, f := range fault.All(err) {
		if !slices.Contains(
			[]string{"up", "description", "power", "power-priority", "power-limit", "speed", "duplex"},
			f.Path,
		) {
			k.t.Errorf(
				"WritePortSettings %v is not supported, but the fault names the field %q: %v",
				s,
				f.Path,
				err,
			)
		}
	}
	if now := k.sentCommands(); len(now) != sent {
		k.t.Errorf("WritePortSettings %v is not supported, but sent %q", s, now[sent:])
	}
}

// settingsOf reads the settings of one port.
func (k *kit) settingsOf(port uint32) *switchdriver.PortSettings {
	k.t.Helper()
	got, _, err := k.client.ReadPortSettings(k.testContext(), k.Switch, port)
	k.mustSucceed("ReadPortSettings of one port", err)
	if len(got) != 1 || got[0].Port != port {
		k.t.Fatalf("ReadPortSettings of port %d answers %v", port, got)
	}
	return got[0]
}

// otherSettings are those of all ports but one, as a text. What changes by itself is left out.
func (k *kit) otherSettings(port uint32) string {
	k.t.Helper()
	all, _, err := k.client.ReadPortSettings(k.testContext(), k.Switch, 0)
	k.mustSucceed("ReadPortSettings", err)
	var lines []string
	for _, s := range all {
		if s.Port != port {
			s.PowerDrawn, s.PowerStatus, s.PowerClass, s.LinkSpeed, s.LinkDuplex, s.FlowControl = nil, nil, nil, nil, nil, nil
			lines = append(lines, s.String())
		}
	}
	for _, p := range k.Ports {
		if p != port &&
			!slices.ContainsFunc(all, func(s *switchdriver.PortSettings) bool {
				return s.Port == p
			}) {
			k.t.Errorf("the switch has port %d, but its settings are not reported", p)
		}
	}
	return strings.Join(lines, "\n")
}

// restoreSettings gives a port back what it had, field by field, as far as the driver can.
func (k *kit) restoreSettings(before *switchdriver.PortSettings) {
	for _, s := range []*switchdriver.PortSettings{{Description: before.Description}, {Up: before.Up}, {Power: before.Power},
		{PowerPriority: before.PowerPriority}, {PowerLimit: before.PowerLimit}, {
			Speed:  before.Speed,
			Duplex: before.Duplex,
		}} {
		s.Port = before.Port
		if switchdriver.CheckPortSettings(s) == nil {
			_ = k.client.WritePortSettings(k.testContext(), k.Switch, s) // what it cannot set it has not changed
		}
	}
}

func badPortSettings(k *kit) {
	defer k.sendsNothing("refused settings")()
	port := k.Ports[0]
	for name, s := range map[string]*switchdriver.PortSettings{
		"none at all":       nil,
		"nothing to change": {Port: port},
		"port 0":            {Up: new(true)},
		"a description of 65": {
			Port:        port,
			Description: new(strings.Repeat("x", 65)),
		},
		"a command": {
			Port:        port,
			Description: new("x\nreboot"),
		},
		"priority 4": {
			Port:          port,
			PowerPriority: new(uint32(4)),
		},
		"a limit of 0": {
			Port:       port,
			PowerLimit: new(uint32(0)),
		},
		"a speed of 99 Mbit/s": {
			Port:  port,
			Speed: new(uint32(99)),
		},
		"duplex without a speed": {
			Port:   port,
			Duplex: new(switchdriver.DuplexFull),
		},
		"what can only be read": {
			Port:      port,
			Up:        new(true),
			LinkSpeed: new(uint32(10)),
		},
		"half duplex at 10 Gbit/s": {
			Port:   port,
			Speed:  new(uint32(10_000)),
			Duplex: new(switchdriver.DuplexHalf),
		},
	} {
		k.checkRefused("settings with "+name, k.client.WritePortSettings(k.testContext(), k.Switch, s), bad...)
	}
}
