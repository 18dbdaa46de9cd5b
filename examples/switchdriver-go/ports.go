package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ReadPortSettings implements switchdriver.PortSettingsReader.
func (d *driver) ReadPortSettings(ctx context.Context, sw *switchdriver.Switch, port uint32) (out []*switchdriver.PortSettings, _ []*switchdriver.PowerSupply, err error) {
	err = d.session(ctx, sw, func(s *session) error {
		out, err = s.settings(port)
		return err
	})
	return out, nil, err
}

// WritePortSettings implements switchdriver.PortSettingsWriter: this switch has a state and a description of each port.
func (d *driver) WritePortSettings(ctx context.Context, sw *switchdriver.Switch, want *switchdriver.PortSettings) error {
	if err := switchdriver.CheckPortSettings(want); err != nil {
		return err // before anything is sent
	}
	if err := refuseOthers(want); err != nil {
		return err
	}
	return d.session(ctx, sw, func(s *session) error {
		before, err := s.settings(want.GetPort())
		if err != nil {
			return err
		}
		return s.changeSettings(before[0], want)
	})
}

// refuseOthers names the settings that this switch does not have.
func refuseOthers(want *switchdriver.PortSettings) error {
	var l fault.List
	for _, field := range []struct {
		asked bool
		name  string
	}{
		{want.Power != nil, "power"}, {want.PowerPriority != nil, "power-priority"}, {want.PowerLimit != nil, "power-limit"},
		{want.Speed != nil, "speed"}, {want.Duplex != nil, "duplex"},
	} {
		if field.asked {
			l = append(l, fault.At(fault.Unsupported, field.name, "switches of this make have no %s that can be set", field.name))
		}
	}
	return l.Err()
}

// settings reads those of one port, or of all with 0.
func (s *session) settings(port uint32) ([]*switchdriver.PortSettings, error) {
	ports, err := s.ports()
	if err != nil {
		return nil, err
	}
	lines, err := s.ask("show descriptions")
	if err != nil {
		return nil, err
	}
	descriptions := map[uint32]string{}
	for _, line := range lines {
		var number uint32
		head, text, ok := strings.Cut(line, " description ")
		if _, err := fmt.Sscanf(head, "port %d", &number); err != nil || !ok {
			return nil, fmt.Errorf("the answer %.80q is not understood", line)
		}
		descriptions[number] = text
	}
	var out []*switchdriver.PortSettings
	for _, p := range ports {
		if port == 0 || p.GetNumber() == port {
			out = append(out, &switchdriver.PortSettings{Port: p.Number, Up: new(p.AdminStatus == 1), Description: new(descriptions[p.Number])})
		}
	}
	if len(out) == 0 {
		return nil, fault.At(fault.NotFound, "port", "the switch has no port %d", port)
	}
	return out, nil
}

// changeSettings sends what differs and reads back. If this fails, it gives the port back what it had.
func (s *session) changeSettings(before, want *switchdriver.PortSettings) error {
	err := s.sendSettings(before, want)
	if err == nil {
		var now []*switchdriver.PortSettings
		now, err = s.settings(want.GetPort())
		if err == nil && switchdriver.SettingsDiffer(want, now[0]) != "" {
			err = errors.New("the switch accepted the settings but does not show them")
		}
	}
	if err == nil {
		return nil
	}
	if failed := s.takeBackSettings(before); failed != nil {
		err = fmt.Errorf("%w; what it did of the change could not be undone: %w", err, failed)
	}
	return err
}

// takeBackSettings gives a port back what it had, in a new session, because the switch may have closed this one.
func (s *session) takeBackSettings(before *switchdriver.PortSettings) error {
	other, err := s.again()
	if err != nil {
		return err
	}
	defer other.close()
	now, err := other.settings(before.GetPort())
	if err != nil {
		return err
	}
	return other.sendSettings(now[0], before)
}

// sendSettings sends the commands of what differs. The state comes last: a port that is switched off is described.
func (s *session) sendSettings(have, want *switchdriver.PortSettings) error {
	var commands []string
	if want.Description != nil && want.GetDescription() != have.GetDescription() {
		commands = append(commands, fmt.Sprintf("set port %d description %s", want.Port, want.GetDescription()))
	}
	if want.Up != nil && want.GetUp() != have.GetUp() {
		state := map[bool]string{true: "up", false: "down"}[want.GetUp()]
		commands = append(commands, fmt.Sprintf("set port %d admin %s", want.Port, state))
	}
	for _, command := range commands {
		if _, err := s.ask("%s", command); err != nil {
			return err
		}
	}
	return nil
}
