package switchcli

import (
	"cmp"
	"context"
	"regexp"
	"slices"
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
	answered := 0
	for next := 0; ; {
		said, m, err := s.awaitMeaning(ctx, pending, s.expectedMeanings(steps, next, final))
		if err != nil {
			what := "prompt for a command"
			if next < len(steps) {
				what = "prompt " + strings.TrimSpace(steps[next].Prompt)
			}
			return s.exchangeFault(ctx, err, "%s", what)
		}
		switch {
		case m.reply != nil:
			if answered++; answered > maxQuestions {
				return fault.Device(
					fault.Downstream,
					"switch %s asks again and again instead of showing its prompt; %s",
					s.target,
					s.lastSaid(),
				)
			}
			if pending, err = m.reply(said); err != nil {
				return err
			}
		case m.step == done:
			s.prompt = compilePrompts(lastLine([]byte(said)))
			return nil
		case m.step < next:
			return fault.Device(
				fault.Denied,
				"switch %s does not let CLI user %q in; check user and password in the switch list",
				s.target,
				s.target.User,
			)
		default:
			pending, next = steps[m.step].sendText(s.target)+s.eol, m.step+1
		}
	}
}

// meaning is what it means that a switch says something during a login.
type meaning struct {
	shown *regexp.Regexp
	step  int // whose prompt it is, or done
	// reply returns what is typed at a question or a page; nil: it is a step.
	reply func(said string) (string, error)
}

// awaitMeaning sends and reads until one of some things is said.
func (s *Session) awaitMeaning(
	ctx context.Context,
	send string,
	all []meaning,
) (said string, m meaning, err error) {
	patterns := make([]*regexp.Regexp, len(all))
	for i := range all {
		patterns[i] = all[i].shown
	}
	said, at, err := s.exchange(ctx, send, patterns)
	if err != nil {
		return "", m, err
	}
	return said, all[at], nil
}

// done means that the switch waits for a command.
const done = -1

// expectedMeanings is what may be said now, and what each means. Where two fit, the first counts.
func (s *Session) expectedMeanings(steps []Step, next int, final *regexp.Regexp) (all []meaning) {
	step := func(i int) meaning {
		return meaning{
			shown: compileEnding(steps[i].Prompt),
			step:  i,
		}
	}
	questions := loginQuestions()
	for _, q := range questions {
		own := slices.ContainsFunc(steps, func(p Step) bool {
			return q.asked.MatchString(p.Prompt)
		})
		if q.refuse != "" && !own {
			all = append(
				all,
				meaning{
					shown: q.asked,
					reply: func(string) (string, error) {
						return "", q.refusedFault(s.target)
					},
				},
			)
		}
	}
	if next < len(steps) {
		all = append(all, step(next))
	}
	if s.target.Transport == SSH {
		for i := next + 1; i < len(steps); i++ {
			all = append(all, step(i))
		}
	}
	for _, p := range s.pages {
		all = append(
			all,
			meaning{
				shown: p.shown,
				reply: func(string) (string, error) { return cmp.Or(p.key, s.eol), nil },
			},
		)
	}
	for _, q := range questions {
		if q.refuse == "" {
			all = append(
				all,
				meaning{
					shown: q.asked,
					reply: func(said string) (string, error) {
						return q.reply(said, s.eol), nil
					},
				},
			)
		}
	}
	if next == len(steps) || s.target.Transport == SSH {
		all = append(all, meaning{shown: final, step: done})
	}
	for i := range next { // asked again: the answer was not taken
		all = append(all, step(i))
	}
	return all
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
	return compileEnding(p)
}
