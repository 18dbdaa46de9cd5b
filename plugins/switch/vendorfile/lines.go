package vendorfile

import (
	"context"
	"regexp"
	"strings"
	"time"

	"ctl.internal/internal/switchcli"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The times: for one line, and for taking back after the call's own time is over.
const (
	lineTime = 15 * time.Second
	undoTime = 30 * time.Second
)

// job is the lines of a function with their values.
type job struct{ lines, rollback []string }

// prepareLines makes all lines before the first is typed.
func prepareLines(f *Function, values map[string]Value) (j job, err error) {
	expand := func(commands []Command) (out []string, err error) {
		for _, c := range commands {
			line, err := c.Template.Expand(values)
			if err != nil {
				if l := fault.All(err); l[0].Kind != fault.Internal {
					return nil, err
				}
				return nil, fault.Wrap(
					fault.Invalid,
					err,
					"line %d of the vendor-specific configuration: %v",
					c.Line,
					err,
				)
			}
			if line != "" {
				out = append(out, line)
			}
		}
		return out, nil
	}
	if j.lines, err = expand(f.Commands); err != nil {
		return j, err
	}
	j.rollback, err = expand(f.Rollback)
	return j, err
}

// refused matches a line by which a switch says that it does not take a command.
var refused = regexp.MustCompile(`(?im)^\s*(?:%|\^\s*$|error\b|fail|invalid|incorrect|unknown command|unrecognized|ambiguous|incomplete|bad |next possible completions|available commands)`)

// typeLines logs in, types the lines, and checks what the switch says to each.
func (d *Driver) typeLines(
	ctx context.Context,
	sw *switchdriver.Switch,
	m *Model,
	f *Function,
	lines []string,
) error {
	s, err := d.keys.Open(ctx, switchcli.TargetOf(sw, switchdriver.Label(sw), f.Channel), m.Login)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, line := range lines {
		if err := writes.Check(ctx); err != nil {
			return err
		}
		said, err := runLine(ctx, s, line)
		if err != nil {
			return err
		}
		if why := failureReason(m, said); why != "" {
			return fault.Device(
				fault.Downstream,
				"switch %s refused %q: %s",
				switchdriver.Label(sw),
				line,
				why,
			)
		}
	}
	return nil
}

func runLine(ctx context.Context, s *switchcli.Session, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lineTime)
	defer cancel()
	return s.Run(ctx, line)
}

// failureReason is why what the switch said is no success; empty if it is one.
func failureReason(m *Model, said string) string {
	for _, e := range m.Errors {
		if strings.Contains(said, e) {
			return switchcli.Reason(e)
		}
	}
	if m.Success != "" {
		if strings.Contains(said, m.Success) {
			return ""
		}
		return "it does not say " + m.Success + " but " + switchcli.Reason(said)
	}
	if len(m.Errors) == 0 {
		for line := range strings.Lines(said) {
			if refused.MatchString(line) {
				return switchcli.Reason(line)
			}
		}
	}
	return ""
}
