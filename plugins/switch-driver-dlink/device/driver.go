// Package device is the driver: it logs in at a switch, types the commands of command.go, and reads back
// what it did by answer.go.
package device

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/internal/switchcli"
	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Driver implements the operations. It is safe for concurrent use: one session at a
// time at each switch.
type Driver struct {
	set    settings
	keys   *hostkeys.Keys
	log    *slog.Logger
	parser *Parser
	turns  switchdriver.Turns
}

var (
	_ switchdriver.ACLApplier      = (*Driver)(nil)
	_ switchdriver.ACLReader       = (*Driver)(nil)
	_ switchdriver.STPWriter       = (*Driver)(nil)
	_ switchdriver.SettingsApplier = (*Driver)(nil)

	_ switchdriver.PortSettingsReader = (*Driver)(nil)
	_ switchdriver.PortSettingsWriter = (*Driver)(nil)
)

// Match implements switchdriver.Driver.
func (d *Driver) Match() switchdriver.Match {
	return switchdriver.Match{
		Models:       d.set.Models,
		SysObjectIDs: d.set.SysObjectIDs,
	}
}

// loginDialogue is how a D-Link switch lets in. The prompt that follows is the model's and
// the user's: it is learned.
func loginDialogue() switchcli.Dialogue {
	return switchcli.Dialogue{Login: []switchcli.Step{{
		Prompt: "UserName:",
		Send:   "${user}$",
	}, {Prompt: "PassWord:", Send: "${password}$"}}}
}

// withSession runs f with a login, in its turn, within the timeout.
func (d *Driver) withSession(
	ctx context.Context,
	sw *switchdriver.Switch,
	f func(*session) error,
) error {
	if err := switchdriver.CheckSwitch(sw); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.set.Timeout.Duration)
	defer cancel()
	done, err := d.turns.Take(ctx, sw)
	if err != nil {
		return err
	}
	defer done()
	to := switchcli.TargetOf(sw, switchdriver.Label(sw), d.set.Transport)
	if to.Port == 0 {
		to.Port = d.set.Port
	}
	s, err := d.login(ctx, to)
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}

// login opens a session and types what goes before.
func (d *Driver) login(ctx context.Context, to switchcli.Target) (*session, error) {
	cli, err := d.keys.Open(ctx, to, loginDialogue())
	if err != nil {
		return nil, err
	}
	s := &session{
		Session: cli,
		ctx:     ctx,
		d:       d,
		to:      to,
		name:    to.Name,
	}
	for _, line := range d.set.Prepare {
		if _, err := s.Run(ctx, line); err != nil {
			cli.Close()
			return nil, err
		}
	}
	return s, nil
}

// undoTime is how long a change is taken back when the call has ended.
const undoTime = 10 * time.Second

// again opens another session, in which a change is taken back also when the call has ended. Its Close ends its time.
func (s *session) again() (*session, func(), error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), undoTime)
	other, err := s.d.login(ctx, s.to)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return other, func() {
		other.Close()
		cancel()
	}, nil
}

// session is a login at one switch.
type session struct {
	*switchcli.Session
	ctx  context.Context
	d    *Driver
	to   switchcli.Target
	name string
}

// runShow types what only shows something.
func (s *session) runShow(line string) (string, error) {
	return s.Run(s.ctx, line)
}

// runChange types a command that must succeed.
func (s *session) runChange(line string) error {
	text, err := s.Run(s.ctx, line)
	if err != nil {
		return err
	}
	if !s.d.parser.Success(text) {
		return fault.Device(
			fault.Downstream,
			"switch %s refuses %q: its answer is %s",
			s.name,
			line,
			switchcli.Reason(text),
		)
	}
	s.d.log.Info("typed at a switch", "switch", s.name, "line", line)
	return nil
}

// saveConfig makes changes survive a restart, if that is wanted.
func (s *session) saveConfig() error {
	if !s.d.set.Save {
		return nil
	}
	text, err := s.Run(s.ctx, "save", switchcli.Answer{
		Question: "(y/n)",
		Send:     "y",
	})
	if err != nil {
		return err
	}
	if !s.d.parser.Saved(text) {
		return fault.Device(
			fault.Downstream,
			"switch %s made the change but does not save it: its answer is %s",
			s.name,
			switchcli.Reason(text),
		)
	}
	return nil
}

// unreadableAnswer is an answer that is not understood, or a change that does not show.
func (s *session) unreadableAnswer(line, text string) error {
	return fault.Device(
		fault.Downstream,
		"switch %s: the answer to %q cannot be read: %s",
		s.name,
		line,
		switchcli.Reason(text),
	)
}
