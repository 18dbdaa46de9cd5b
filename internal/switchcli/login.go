package switchcli

import (
	"context"
	"regexp"
	"strings"

	"ctl.internal/sdk/fault"
)

// login goes through the dialogue and learns the prompt.
func (s *Session) login(ctx context.Context, d Dialogue) error {
	steps := d.Login
	if len(steps) == 0 {
		steps = defaultLogin()
	}
	final := s.finalPrompt(d, steps)
	pending := "" // what is to be sent, with the next read
	for next := 0; ; {
		patterns, meaning := s.expected(steps, next, final)
		said, at, err := s.exchange(ctx, pending, patterns)
		if err != nil {
			what := "prompt for a command"
			if next < len(steps) {
				what = "prompt " + strings.TrimSpace(steps[next].Prompt)
			}
			return s.fault(ctx, err, "%s", what)
		}
		switch m := meaning[at]; {
		case m == done:
			s.prompt = prompts(lastLine([]byte(said)))
			return nil
		case m < next:
			return fault.Device(fault.Denied, "switch %s does not let CLI user %q in; check user and password in the switch list", s.target, s.target.User)
		default:
			pending, next = steps[m].send(s.target)+s.eol, m+1
		}
	}
}

// done means that the switch waits for a command.
const done = -1

// expected is what may be said now, and what each means: the number of a step, or done.
func (s *Session) expected(steps []Step, next int, final *regexp.Regexp) (patterns []*regexp.Regexp, meaning []int) {
	add := func(p *regexp.Regexp, m int) { patterns, meaning = append(patterns, p), append(meaning, m) }
	if next < len(steps) {
		add(ends(steps[next].Prompt), next)
	}
	if s.target.Transport == SSH {
		for i := next + 1; i < len(steps); i++ {
			add(ends(steps[i].Prompt), i)
		}
	}
	if next == len(steps) || s.target.Transport == SSH {
		add(final, done)
	}
	for i := range next { // asked again: the answer was not taken
		add(ends(steps[i].Prompt), i)
	}
	return patterns, meaning
}

// finalPrompt is what the switch says when it waits for a command.
func (s *Session) finalPrompt(d Dialogue, steps []Step) *regexp.Regexp {
	p := strings.TrimSpace(d.Prompt)
	if p == "" && steps[len(steps)-1].Send == "" {
		p = strings.TrimSpace(steps[len(steps)-1].Prompt)
	}
	if p == "" {
		return anyPrompt()
	}
	return ends(p)
}
