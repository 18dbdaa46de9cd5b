package service

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// portRPCs registers the RPCs of module switch-port.
func (s *Service) portRPCs(m operations.Mux) {
	registerHandler(m, "switch-port:get-ports", switchHandler(s, s.getPortSettings))
	registerHandler(m, "switch-port:set-port", switchHandler(s, s.setPort))
	registerHandler(m, "switch-port:bounce-port", switchHandler(s, s.bouncePort))
}

// portSettings is what is set at a port, and what it supplies.
type portSettings struct {
	portID
	State         string  `json:"state,omitempty"`
	Description   *string `json:"description,omitempty"`
	Power         string  `json:"power,omitempty"`
	PowerPriority string  `json:"power-priority,omitempty"`
	PowerLimit    *uint32 `json:"power-limit-mw,omitempty"`
	PowerStatus   string  `json:"power-status,omitempty"`
	PowerClass    *uint32 `json:"power-class,omitempty"`
	PowerDrawn    *uint32 `json:"power-drawn-mw,omitempty"`
	Speed         *uint32 `json:"speed-mbps,omitempty"`
	Duplex        string  `json:"duplex,omitempty"`
	LinkSpeed     *uint32 `json:"link-speed-mbps,omitempty"`
	LinkDuplex    string  `json:"link-duplex,omitempty"`
	FlowControl   string  `json:"flow-control,omitempty"`
}

type powerSupply struct {
	Group  uint32 `json:"group"`
	Budget uint32 `json:"budget-w"`
	Drawn  uint32 `json:"drawn-w"`
}

type portSettingsOut struct {
	ofSwitch
	Entries  []portSettings `json:"entry"`
	Supplies []powerSupply  `json:"power-supply,omitempty"`
}

// word names a value of an enumeration that begins with 0; nil, or a value without a name, is absent.
func word(v *uint32, names ...string) string {
	if v == nil || int(*v) >= len(names) {
		return ""
	}
	return names[*v]
}

// choice names a flag; nil is absent.
func choice(v *bool, yes, no string) string {
	switch {
	case v == nil:
		return ""
	case *v:
		return yes
	}
	return no
}

const (
	powerOn  = "on"
	powerOff = "off"
	stateUp  = "up"

	stateDown = "down"
)

func priorities() []string {
	return []string{"", "critical", "high", "low"}
}

func duplexes() []string {
	return []string{"auto", "half", "full"}
}

// getPortSettings reads the settings of the ports of a switch.
func (s *Service) getPortSettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	in whichIn,
) (*portSettingsOut, error) {
	names := s.portNamesOf(mib.MAC(sw.NodeId))
	only, err := names.parsePort(sw, "port", in.Port)
	if err != nil {
		return nil, err
	}
	ports, supplies, err := s.readSettings(ctx, sw, only)
	if err != nil {
		return nil, err
	}
	out := &portSettingsOut{
		ofSwitch: s.switchIdentity(mib.MAC(sw.NodeId)),
		Entries:  []portSettings{},
	}
	for _, p := range ports {
		out.Entries = append(out.Entries, portSettings{
			portID:        portID{names.nameOfPort(p.Port), p.Port},
			State:         choice(p.Up, stateUp, stateDown),
			Description:   p.Description,
			Power:         choice(p.Power, powerOn, powerOff),
			PowerPriority: word(p.PowerPriority, priorities()...),
			PowerLimit:    p.PowerLimit,
			PowerClass:    p.PowerClass,
			PowerDrawn:    p.PowerDrawn,
			Speed:         p.Speed,
			PowerStatus: word(
				p.PowerStatus,
				"",
				"disabled",
				"searching",
				"delivering",
				"fault",
				"test",
				"other-fault",
			),
			Duplex:      word(p.Duplex, duplexes()...),
			LinkSpeed:   p.LinkSpeed,
			LinkDuplex:  word(p.LinkDuplex, "", "half", "full"),
			FlowControl: word(p.FlowControl, "", "disabled", "send", "receive", "both"),
		})
	}
	for _, p := range supplies {
		out.Supplies = append(out.Supplies, powerSupply{p.Group, p.Budget, p.Drawn})
	}
	return out, nil
}

func (s *Service) readSettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	only uint32,
) ([]*switchdriver.PortSettings, []*switchdriver.PowerSupply, error) {
	d, known, err := driver.For[switchdriver.PortSettingsReader](ctx, s.drivers, sw, "ReadPortSettings")
	if err != nil {
		return nil, nil, err
	}
	return d.ReadPortSettings(ctx, known, only)
}

func (o *portSettingsOut) formatTable() string {
	t := commands.Table{
		Empty: "The switch reports no ports.",
		Columns: []commands.Column{{Title: "Port"}, {
			Title: "No",
			Right: true,
		}, {Title: "State"},
			{
				Title: "Description",
				Max:   40,
			}, {
				Title: "Speed",
				Right: true,
			}, {Title: "Duplex"}, {
				Title: "Link",
				Right: true,
			}, {Title: "Flow control"},
			{Title: "Power"}, {Title: "Priority"}, {
				Title: "Limit mW",
				Right: true,
			}, {
				Title: "Class",
				Right: true,
			}, {Title: "Drawn mW", Right: true}},
	}
	for _, p := range o.Entries {
		link := strings.TrimSpace(megabits(p.LinkSpeed) + " " + p.LinkDuplex)
		power := strings.TrimSpace(p.Power + " " + p.PowerStatus)
		description := ""
		if p.Description != nil {
			description = *p.Description
		}
		t.Add(p.Port, p.Number, p.State, description, megabits(p.Speed), p.Duplex, link, p.FlowControl, power, p.PowerPriority,
			known(p.PowerLimit), known(p.PowerClass), known(p.PowerDrawn))
	}
	text := t.String()
	for _, p := range o.Supplies {
		text += fmt.Sprintf(
			"Power supply %d: %d W of %d W are drawn.\n",
			p.Group,
			p.Drawn,
			p.Budget,
		)
	}
	return text
}

func known(n *uint32) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// megabits writes a speed in Mbit/s; 0 is negotiated.
func megabits(n *uint32) string {
	switch {
	case n == nil:
		return ""
	case *n == 0:
		return "auto"
	}
	return formatSpeed(uint64(*n) * 1000)
}

// portChangeIn is the input of set-port; what is absent is not changed.
type portChangeIn struct {
	whichIn
	State         string  `json:"state"`
	Description   *string `json:"description"`
	Power         string  `json:"power"`
	PowerPriority string  `json:"power-priority"`
	PowerLimit    *uint32 `json:"power-limit-mw"`
	Speed         *uint32 `json:"speed-mbps"`
	Duplex        string  `json:"duplex"`
	Force         bool    `json:"force"`
}

// settings are those of the contract.
func (in portChangeIn) settings(number uint32) *switchdriver.PortSettings {
	s := &switchdriver.PortSettings{
		Port:        number,
		Description: in.Description,
		PowerLimit:  in.PowerLimit,
		Speed:       in.Speed,
	}
	if in.State != "" {
		s.Up = new(in.State == stateUp)
	}
	if in.Power != "" {
		s.Power = new(in.Power == powerOn)
	}
	s.PowerPriority = numberOf(in.PowerPriority, priorities())
	s.Duplex = numberOf(in.Duplex, duplexes())
	return s
}

// numberOf is the place of a word in a list; nil for the empty word.
func numberOf(text string, names []string) *uint32 {
	for i, name := range names {
		if text != "" && name == text {
			return new(uint32(i))
		}
	}
	return nil
}

// interrupts reports whether settings take the link down, or the power of what is attached.
func interrupts(s *switchdriver.PortSettings) bool {
	off := func(v *bool) bool { return v != nil && !*v }
	return off(s.Up) || off(s.Power) || s.Speed != nil || s.Duplex != nil || s.PowerLimit != nil
}

// setPort changes the settings of a port.
func (s *Service) setPort(
	ctx context.Context,
	sw *switchdriver.Switch,
	in portChangeIn,
) (*done, error) {
	number, err := s.onePort(sw, in.Port)
	if err != nil {
		return nil, err
	}
	wanted := in.settings(number)
	if err := switchdriver.CheckPortSettings(wanted); err != nil {
		return nil, leafNames(err)
	}
	if interrupts(wanted) && !in.Force {
		if err := s.refuseRisk(ctx, sw, number); err != nil {
			return nil, err
		}
	}
	what := fmt.Sprintf("setting port %s", s.portNamesOf(mib.MAC(sw.NodeId)).nameOfPort(number))
	return s.writePort(
		ctx,
		sw,
		in.whichIn,
		what,
		&pluginv1.WritePortSettingsRequest{Settings: wanted},
	)
}

// bounceIn is the input of bounce-port.
type bounceIn struct {
	whichIn
	Power bool   `json:"power"`
	Pause uint32 `json:"pause-ms"`
	Force bool   `json:"force"`
}

// bouncePause is how long a port is down where the input does not say.
const bouncePause = 3 * time.Second

// bouncePort takes a port down and up again, or its power.
func (s *Service) bouncePort(
	ctx context.Context,
	sw *switchdriver.Switch,
	in bounceIn,
) (*done, error) {
	number, err := s.onePort(sw, in.Port)
	if err != nil {
		return nil, err
	}
	r := &pluginv1.WritePortSettingsRequest{
		Settings: &switchdriver.PortSettings{Port: number},
		Bounce:   cmp.Or(in.Pause, uint32(bouncePause.Milliseconds())),
	}
	if in.Power {
		r.Settings.Power = new(true)
	} else {
		r.Settings.Up = new(true)
	}
	if err := switchdriver.CheckBounce(
		r.Settings,
		time.Duration(r.Bounce)*time.Millisecond,
	); err != nil {
		return nil, leafNames(err)
	}
	if !in.Force {
		if err := s.refuseRisk(ctx, sw, number); err != nil {
			return nil, err
		}
	}
	return s.writePort(
		ctx,
		sw,
		in.whichIn,
		fmt.Sprintf("bouncing port %s", s.portNamesOf(mib.MAC(sw.NodeId)).nameOfPort(number)),
		r,
	)
}

func (s *Service) onePort(sw *switchdriver.Switch, port string) (uint32, error) {
	number, err := s.portNamesOf(mib.MAC(sw.NodeId)).parsePort(sw, "port", port)
	if err == nil && number == 0 {
		err = fault.At(fault.Missing, "port", "the call names no port")
	}
	return number, err
}

func (s *Service) writePort(
	ctx context.Context,
	sw *switchdriver.Switch,
	in whichIn,
	what string,
	r *pluginv1.WritePortSettingsRequest,
) (*done, error) {
	o := writes.Operation{
		What:    what,
		Request: r,
		Ports:   s.portNamesOf(mib.MAC(sw.NodeId)).meantPorts([]string{in.Port}),
	}
	return &done{"SUCCESS"}, leafNames(s.changeSwitch(ctx, mib.MAC(sw.NodeId), o))
}

// leafNames gives the faults of the contract the paths of the module.
func leafNames(err error) error {
	var l fault.List
	for _, e := range fault.All(err) {
		f := *e
		switch f.Path {
		case "up":
			f.Path = "state"
		case "power-limit":
			f.Path = "power-limit-mw"
		case "speed":
			f.Path = "speed-mbps"
		case "bounce":
			f.Path = "pause-ms"
		case "settings":
			f.Path = ""
		}
		l = append(l, &f)
	}
	return l.Err()
}
