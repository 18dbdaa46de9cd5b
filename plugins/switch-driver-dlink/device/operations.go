package device

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ApplyACL implements switchdriver.ACLApplier. Each request is one command, so that
// it is made or not; what the switch shows afterwards decides.
func (d *Driver) ApplyACL(
	ctx context.Context,
	sw *switchdriver.Switch,
	action switchdriver.ACLAction,
	p *switchdriver.ACLProfile,
	r *switchdriver.ACLRule,
) error {
	if err := switchdriver.CheckACL(action, p, r); err != nil {
		return err
	}
	return d.withSession(ctx, sw, func(s *session) error {
		before, err := s.readACLTable()
		if err != nil {
			return err
		}
		if action == switchdriver.ACLClear && len(before) == 0 {
			return nil
		}
		line, err := ACL(action, p, r, before)
		if err != nil {
			return s.nameSwitch(err)
		}
		if err := s.runChange(line); err != nil {
			return err
		}
		after, err := s.readACLTable()
		if err != nil {
			return err
		}
		if differs := switchdriver.ACLDiffers(action, p, r, after); differs != "" {
			return fault.Device(
				fault.Downstream,
				"switch %s accepted %q but does not show it: it shows %s%s",
				s.name,
				line,
				differs,
				s.takeBack(action, p, r, after),
			)
		}
		return s.saveConfig()
	})
}

// nameSwitch names the switch in what the command refuses.
func (s *session) nameSwitch(err error) error {
	var out fault.List
	for _, f := range fault.All(err) {
		named := *f
		named.Text = "switch " + s.name + ": " + f.Text
		out = append(out, &named)
	}
	return out.Err()
}

// takeBack removes a profile or rule that the switch made otherwise than asked for; it
// was not there before. The text reports how that ended, and is empty where nothing is to be removed.
func (s *session) takeBack(
	action switchdriver.ACLAction,
	p *switchdriver.ACLProfile,
	r *switchdriver.ACLRule,
	table []*switchdriver.ACLEntry,
) string {
	have := switchdriver.FindACL(table, p)
	switch {
	case action == switchdriver.ACLCreateProfile && have != nil:
		action = switchdriver.ACLDeleteProfile
	case action == switchdriver.ACLSetRule && switchdriver.FindACLRule(have, r.GetRuleId()) != nil:
		action = switchdriver.ACLDeleteRule
	default:
		return ""
	}
	line, err := ACL(action, have.Profile, r, table)
	if err == nil {
		err = s.runChange(line)
	}
	if err != nil {
		return fmt.Sprintf("; it could not be undone: %v", err)
	}
	return "; it is taken back"
}

// ReadACL implements switchdriver.ACLReader.
func (d *Driver) ReadACL(
	ctx context.Context,
	sw *switchdriver.Switch,
) (table []*switchdriver.ACLEntry, err error) {
	err = d.withSession(ctx, sw, func(s *session) error {
		table, err = s.readACLTable()
		return err
	})
	return table, err
}

func (s *session) readACLTable() ([]*switchdriver.ACLEntry, error) {
	text, err := s.runShow(ShowACL)
	if err != nil {
		return nil, err
	}
	t, ok := s.d.parser.Table(text)
	if !ok {
		return nil, s.unreadableAnswer(ShowACL, text)
	}
	return t, nil
}

// WriteSTP implements switchdriver.STPWriter.
func (d *Driver) WriteSTP(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
	on bool,
) error {
	return d.withSession(ctx, sw, func(s *session) error {
		now, err := s.readSTP(port)
		if err != nil || now == on {
			return err
		}
		line := STP(port, on)
		if err := s.runChange(line); err != nil {
			return err
		}
		if now, err = s.readSTP(port); err != nil {
			return err
		}
		if now != on {
			return fault.Device(
				fault.Downstream,
				"switch %s accepted %q but does not show it",
				s.name,
				line,
			)
		}
		return s.saveConfig()
	})
}

// readSTP reads whether a spanning tree is on; a port that the switch does not show has no spanning tree.
func (s *session) readSTP(port uint32) (bool, error) {
	line, read := ShowSTP(port), s.d.parser.STP
	if port != 0 {
		read = s.d.parser.PortSTP
	}
	text, err := s.runShow(line)
	if err != nil {
		return false, err
	}
	on, known := read(text)
	switch {
	case known:
		return on, nil
	case port != 0:
		return false, fault.At(
			fault.NotFound,
			"port",
			"switch %s has no port %d: it says %s",
			s.name,
			port,
			switchcli.Reason(text),
		)
	}
	return false, s.unreadableAnswer(line, text)
}

// ApplySettings implements switchdriver.SettingsApplier. A setting that the switch
// refuses is reported in its line and does not keep the others from being made; only when
// the session is lost does the call fail.
func (d *Driver) ApplySettings(
	ctx context.Context,
	set *switchdriver.Settings,
) (report []string, err error) {
	if err := switchdriver.CheckSwitch(set.GetSwitch()); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all := settingsOf(set)
	if set.DryRun {
		for _, x := range all {
			report = append(report, fmt.Sprintf("%s: would type %q", x.What, x.Line))
		}
		return report, nil
	}
	if len(all) == 0 {
		return nil, nil
	}
	err = d.withSession(ctx, set.GetSwitch(), func(s *session) error {
		for _, x := range all {
			text, err := s.runShow(x.Line)
			switch {
			case err != nil:
				return unfinishedError(err, report)
			case d.parser.Success(text):
				report = append(report, fmt.Sprintf("%s: switched off with %q", x.What, x.Line))
			default:
				report = append(
					report,
					fmt.Sprintf(
						"%s: left as it is; the switch refuses %q: %s",
						x.What,
						x.Line,
						switchcli.Reason(text),
					),
				)
			}
		}
		return s.saveConfig()
	})
	return report, err
}

// unfinishedError reports what was done before a session was lost.
func unfinishedError(err error, report []string) error {
	f := *fault.All(err)[0]
	if len(report) > 0 {
		f.Text += fmt.Sprintf("; done before: %s", strings.Join(report, "; "))
	}
	return &f
}
