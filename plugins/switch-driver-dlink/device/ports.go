package device

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// What the command line takes: octets of a description, and milliwatts.
const (
	maxDescription = 32
	minPowerLimit  = 1000
	maxPowerLimit  = 35_000
)

// ShowPorts shows the settings of a port; port 0 is all.
func ShowPorts(port uint32) string {
	if port == 0 {
		return "show ports description"
	}
	return fmt.Sprintf("show ports %d-%d description", port, port)
}

// ShowPower shows the power over Ethernet of a port; port 0 is all.
func ShowPower(port uint32) string {
	if port == 0 {
		return "show poe ports"
	}
	return fmt.Sprintf("show poe ports %d-%d", port, port)
}

// ShowSupply shows the power supply of the switch.
const ShowSupply = "show poe system"

// ReadPortSettings implements switchdriver.PortSettingsReader.
func (d *Driver) ReadPortSettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
) (out []*switchdriver.PortSettings, supplies []*switchdriver.PowerSupply, err error) {
	err = d.withSession(ctx, sw, func(s *session) error {
		if out, err = s.settings(port); err != nil {
			return err
		}
		text, err := s.runShow(ShowSupply)
		if supply := d.parser.Supply(text); supply != nil {
			supplies = []*switchdriver.PowerSupply{supply}
		}
		return err
	})
	return out, supplies, err
}

// settings reads those of a port, or of all. A model without power over Ethernet does not know ShowPower.
func (s *session) settings(port uint32) ([]*switchdriver.PortSettings, error) {
	text, err := s.runShow(ShowPorts(port))
	if err != nil {
		return nil, err
	}
	out := s.d.parser.Ports(text)
	if port != 0 {
		out = slices.DeleteFunc(out, func(p *switchdriver.PortSettings) bool {
			return p.Port != port
		})
	}
	switch {
	case len(out) == 0 && port == 0:
		return nil, s.unreadableAnswer(ShowPorts(port), text)
	case len(out) == 0:
		return nil, fault.At(
			fault.NotFound,
			"port",
			"switch %s has no port %d: it says %s",
			s.name,
			port,
			switchcli.Reason(text),
		)
	}
	if text, err = s.runShow(ShowPower(port)); err != nil {
		return nil, err
	}
	s.d.parser.AddPower(text, out)
	return out, nil
}

// WritePortSettings implements switchdriver.PortSettingsWriter. Each field is a command; when one fails, or the switch
// does not show it, those before are taken back.
func (d *Driver) WritePortSettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	want *switchdriver.PortSettings,
) error {
	if err := switchdriver.CheckPortSettings(want); err != nil {
		return err
	}
	return d.withSession(ctx, sw, func(s *session) error {
		all, err := s.settings(want.Port)
		if err != nil {
			return err
		}
		before := all[0]
		lines, back, err := PortLines(want, before)
		if err != nil || len(lines) == 0 {
			return s.nameSwitch(err)
		}
		for i, line := range lines {
			if err := s.runChange(line); err != nil {
				return s.undoPort(err, back[:i+1])
			}
		}
		after, err := s.settings(want.Port)
		if err != nil {
			return s.undoPort(err, back)
		}
		if differs := switchdriver.SettingsDiffer(want, after[0]); differs != "" {
			err := fault.Device(
				fault.Downstream,
				"switch %s accepted the settings but does not show them: it shows %s",
				s.name,
				differs,
			)
			return s.undoPort(err, back)
		}
		return s.saveConfig()
	})
}

// undoPort types the lines that give a port back what it had, the last first, in a new session: this one may have ended.
func (s *session) undoPort(cause error, back []string) error {
	cli, end, err := s.again()
	if err == nil {
		defer end()
		for _, line := range slices.Backward(back) {
			if err = cli.runChange(line); err != nil {
				break
			}
		}
	}
	f := *fault.All(cause)[0]
	if err != nil {
		f.Text += fmt.Sprintf("; it could not be undone: %v", err)
		return &f
	}
	f.Text += "; it is taken back"
	return &f
}

// PortLines are the commands that give a port settings, and those that give it back what it had before.
func PortLines(want, before *switchdriver.PortSettings) (lines, back []string, err error) {
	p := portLines{
		port:   want.GetPort(),
		want:   want,
		before: before,
	}
	p.description()
	p.power()
	p.speed()
	if want.Up != nil && before.GetUp() != *want.Up {
		p.add(p.state("config ports", *want.Up), p.state("config ports", before.GetUp()))
	}
	return p.lines, p.back, p.faults.Err()
}

// portLines collects them; with faults, nothing is typed.
type portLines struct {
	port         uint32
	want, before *switchdriver.PortSettings
	lines, back  []string
	faults       fault.List
}

func (p *portLines) add(line, back string) {
	p.lines = append(p.lines, line)
	p.back = append(p.back, back)
}

func (p *portLines) refuse(kind fault.Kind, path, format string, args ...any) {
	p.faults = append(p.faults, fault.At(kind, path, format, args...))
}

// of is a command about the port: "config ports 7-7 …".
func (p *portLines) of(command, rest string) string {
	return fmt.Sprintf("%s %d-%d %s", command, p.port, p.port, rest)
}

func (p *portLines) state(command string, on bool) string {
	if on {
		return p.of(command, "state enable")
	}
	return p.of(command, "state disable")
}

func (p *portLines) description() {
	if p.want.Description == nil || p.want.GetDescription() == p.before.GetDescription() {
		return
	}
	line, err := p.describe(p.want.GetDescription())
	if err != nil {
		p.faults = append(p.faults, fault.All(err)...)
		return
	}
	back, err := p.describe(p.before.GetDescription())
	if err != nil { // what the switch shows cannot be typed
		back = p.of("config ports", "clear_description")
	}
	p.add(line, back)
}

// describe is the command that sets a description; blanks in it are between words.
func (p *portLines) describe(text string) (string, error) {
	if text == "" {
		return p.of("config ports", "clear_description"), nil
	}
	if len(text) > maxDescription || text != strings.TrimSpace(text) {
		return "", fault.At(
			fault.Invalid,
			"description",
			"%.80q is not a description of up to %d characters without blanks at its ends",
			text,
			maxDescription,
		)
	}
	for word := range strings.FieldsSeq(text) {
		if _, err := switchcli.Word("description", word); err != nil {
			return "", err
		}
	}
	return p.of("config ports", `description "`+text+`"`), nil
}

func (p *portLines) power() {
	w, b := p.want, p.before
	if b.Power == nil {
		const none = "it has no power over Ethernet at this port"
		for path, asked := range map[string]bool{
			"power":          w.Power != nil,
			"power-priority": w.PowerPriority != nil,
			"power-limit":    w.PowerLimit != nil,
		} {
			if asked {
				p.refuse(fault.Unsupported, path, "%s", none)
			}
		}
		return
	}
	const poe = "config poe ports"
	if w.PowerPriority != nil && *w.PowerPriority != b.GetPowerPriority() {
		names := map[uint32]string{
			switchdriver.PowerCritical: "critical",
			switchdriver.PowerHigh:     "high",
			switchdriver.PowerLow:      "low",
		}
		p.add(
			p.of(poe, "priority "+names[*w.PowerPriority]),
			p.of(poe, "priority "+names[b.GetPowerPriority()]),
		)
	}
	if w.PowerLimit != nil && *w.PowerLimit != b.GetPowerLimit() {
		if *w.PowerLimit < minPowerLimit || *w.PowerLimit > maxPowerLimit {
			p.refuse(
				fault.Invalid,
				"power-limit",
				"the limit of a port is %d to %d milliwatts",
				minPowerLimit,
				maxPowerLimit,
			)
			return
		}
		p.add(
			p.of(poe, "power_limit user_define "+decimal(*w.PowerLimit)),
			p.of(poe, "power_limit user_define "+decimal(b.GetPowerLimit())),
		)
	}
	if w.Power != nil && *w.Power != *b.Power {
		p.add(p.state(poe, *w.Power), p.state(poe, *b.Power))
	}
}

func decimal(n uint32) string {
	return strconv.FormatUint(uint64(n), 10)
}

func (p *portLines) speed() {
	if p.want.Speed == nil && p.want.Duplex == nil {
		return
	}
	speed, duplex := p.before.GetSpeed(), p.before.GetDuplex()
	if p.want.Speed != nil {
		speed, duplex = *p.want.Speed, 0
	}
	if p.want.Duplex != nil {
		duplex = *p.want.Duplex
	}
	if p.want.Duplex != nil && duplex == 0 && speed != 0 {
		p.refuse(
			fault.Unsupported,
			"duplex",
			"it negotiates the duplex mode only together with the speed",
		)
		return
	}
	line, ok := speedWord(speed, duplex)
	if !ok {
		p.refuse(fault.Unsupported, "speed", "it has no speed of %d Mbit/s that can be set", speed)
		return
	}
	back, ok := speedWord(p.before.GetSpeed(), p.before.GetDuplex())
	if !ok {
		back = "auto"
	}
	if line != back {
		p.add(p.of("config ports", "speed "+line), p.of("config ports", "speed "+back))
	}
}

// speedWord is what the command line calls a speed; a duplex mode that is not named is full.
func speedWord(speed, duplex uint32) (string, bool) {
	if speed == 0 {
		return "auto", true
	}
	word := decimal(speed) + "_full"
	if duplex == switchdriver.DuplexHalf {
		word = decimal(speed) + "_half"
	}
	return word, slices.Contains(
		[]string{"10_half", "10_full", "100_half", "100_full", "1000_full"},
		word,
	)
}
