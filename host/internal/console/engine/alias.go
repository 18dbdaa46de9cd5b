package engine

import (
	"strings"

	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/fault"
)

const maxAliasDepth = 16

// expandAliases replaces a first word that is an alias by what it stands for, which may
// be a pipeline. What was given to the alias takes the place of $args, or the end.
func (s *Session) expandAliases(p syntax.Pipeline, depth int) (syntax.Pipeline, error) {
	var out syntax.Pipeline
	for _, stage := range p {
		s.mu.Lock()
		text, ok := s.aliases[stage[0].Text]
		s.mu.Unlock()
		if !ok || stage[0].Quoted {
			out = append(out, stage)
			continue
		}
		args := console.Join(stage[1:].Texts())
		switch {
		case strings.Contains(text, "$args"):
			text = strings.ReplaceAll(text, "$args", args)
		case args != "":
			text += " " + args
		}
		line, err := syntax.Parse(text)
		if err != nil || len(line) != 1 {
			return nil, fault.New(
				fault.Malformed,
				"the alias %s is not a valid command: %s",
				stage[0].Text,
				text,
			)
		}
		if line[0][0][0].Text == stage[0].Text { // alias list='list -i' means the command
			out = append(out, line[0]...)
			continue
		}
		if depth == maxAliasDepth {
			return nil, fault.New(
				fault.Invalid,
				"the alias %s refers to itself; see alias",
				stage[0].Text,
			)
		}
		more, err := s.expandAliases(line[0], depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}
