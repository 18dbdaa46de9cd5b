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

// Commands are the shell commands. Without a service they only describe
// themselves.
func Commands(s *Service) []commands.Command {
	project := func(ctx context.Context, prefix string) []string {
		if s == nil {
			return nil
		}
		return s.complete(ctx, prefix)
	}
	return []commands.Command{
		projectsCommand(s), syncCommand(s, project), reportCommand(s, project),
	}
}

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

var errNoService = fault.New(fault.Unavailable, "the plugin repoinfo does not run")

func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
