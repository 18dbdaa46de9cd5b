package service

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands are the shell commands. Those of the zero Service describe themselves only.
func (s *Service) commands() []commands.Command {
	return []commands.Command{s.projectsCommand(), s.syncCommand(), s.reportCommand()}
}

// Commands describes the shell commands.
func Commands() []commands.Command { return (&Service{}).commands() }

// complete lists the projects whose names begin with prefix.
func (s *Service) complete(ctx context.Context, prefix string) []string {
	names, err := s.folder.Projects(ctx)
	if err != nil {
		return nil
	}
	var list []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			list = append(list, n)
		}
	}
	return list
}

// words are the parts of a list separated by commas.
func words(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.SplitSeq(list, ",") {
			if w = strings.TrimSpace(w); w != "" && !yield(w) {
				return
			}
		}
	}
}

// number reads an option that is a number from 1; absent is 0.
func number(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "%q is not a number from 1", text)
	}
	return n, nil
}

func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
