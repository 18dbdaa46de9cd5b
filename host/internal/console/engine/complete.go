package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/console/filter"
	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
)

// completeTime bounds how long the cursor waits for a plugin's candidates.
const completeTime = 2 * time.Second

// Candidate is one way to go on.
type Candidate struct {
	Text string // the whole word, not quoted
	Help string
	Open bool // more follows without a blank: a scope's colon, an option's =
}

// Completion is what can stand in place of the word at the cursor.
type Completion struct {
	Start      int // byte where that word begins
	Candidates []Candidate
}

// Complete answers for the line up to the cursor.
func (s *Session) Complete(ctx context.Context, line string) Completion {
	ctx, cancel := context.WithTimeout(caller.With(ctx, s.currentCaller()), completeTime)
	defer cancel()
	p := syntax.Tail(line)
	x := s.currentIndex()
	out := Completion{Start: p.Word.Start}
	if len(p.Stage) == 0 {
		out.Candidates = s.completeName(x, p)
		return out
	}
	words := p.Stage.Texts()
	cmd, err := x.findCommand(s.Scope(), words[0])
	if err != nil {
		return out
	}
	cmd = s.withFileCompletion(cmd)
	b := binder{
		cmd:       cmd,
		options:   optionsOf(cmd),
		stopAtArg: stopsAtArg(cmd.Name),
	}
	s.withColumnCompletion(x, b.options, p.Stage)
	out.Candidates = b.completeWords(ctx, words[1:], p.Word.Text)
	return out
}

func (s *Session) completeName(x *index, p syntax.Partial) []Candidate {
	var out []Candidate
	add := func(text, help string, open bool) {
		if strings.HasPrefix(text, p.Word.Text) &&
			!slices.ContainsFunc(out, func(c Candidate) bool { return c.Text == text }) {
			out = append(out, Candidate{text, help, open})
		}
	}
	if p.Piped {
		for _, c := range filter.Commands("") {
			add(strings.TrimPrefix(c.Name, ":"), c.Summary, false)
		}
		return out
	}
	scope := s.Scope()
	for _, c := range x.all {
		in, bare := splitCommandName(c.Name)
		switch {
		case slices.Contains(hidden, c.Name):
		case strings.Contains(p.Word.Text, ":"):
			add(c.Name, c.Summary, false)
		case in == scope || in == shellScope || in == "":
			add(bare, c.Summary, false)
		}
	}
	if !strings.Contains(p.Word.Text, ":") {
		for _, sc := range x.listScopes() {
			if sc != shellScope {
				add(sc+":", "commands of "+sc, true)
			}
		}
		s.mu.Lock()
		for _, a := range slices.Sorted(maps.Keys(s.aliases)) {
			add(a, s.aliases[a], false)
		}
		s.mu.Unlock()
	}
	if len(out) == 1 && out[0].Open { // one scope only: its commands at once
		for _, c := range x.all {
			if strings.HasPrefix(c.Name, out[0].Text) {
				out = append(out, Candidate{c.Name, c.Summary, false})
			}
		}
		out = out[1:]
	}
	return out
}

// completeWords walks the finished words as bind does, without judging them.
func (b *binder) completeWords(ctx context.Context, words []string, prefix string) []Candidate {
	given := map[string]bool{}
	var args []string
	var open *commands.Option // an option whose value is still to come
	ended := false
	for _, w := range words {
		switch {
		case open != nil:
			open = nil
		case ended || len(w) < 2 || w[0] != '-' || b.isNumber(w):
			args = append(args, w)
			ended = ended || b.stopAtArg
		case w == "--":
			ended = true
		default:
			name, _, inline := strings.Cut(strings.TrimLeft(w, "-"), "=")
			if o, ok := findOption(b.options, name); ok {
				given[o.Name] = true
				if o.Type != commands.Bool && !inline {
					open = &o
				}
			}
		}
	}
	if open != nil {
		return completeValues(ctx, "", prefix, open.Values, open.Complete, nil)
	}
	if !ended && strings.HasPrefix(prefix, "-") {
		if name, value, inline := strings.Cut(strings.TrimLeft(prefix, "-"), "="); inline {
			if o, ok := findOption(b.options, name); ok {
				return completeValues(
					ctx,
					prefix[:len(prefix)-len(value)],
					value,
					o.Values,
					o.Complete,
					nil,
				)
			}
			return nil
		}
		return b.completeOption(prefix, given)
	}
	for i, a := range b.cmd.Arguments {
		if i == len(args) || a.Repeated {
			out := completeValues(ctx, "", prefix, a.Values, a.Complete, args)
			if len(out) > 0 || prefix != "" {
				return out
			}
			break
		}
	}
	if prefix == "" && !ended && len(b.cmd.Options) > 0 {
		return b.completeOption("--", given)
	}
	return nil
}

func (b *binder) completeOption(prefix string, given map[string]bool) []Candidate {
	var out []Candidate
	for _, o := range b.options {
		text := "--" + o.Name
		if !strings.HasPrefix(text, prefix) { // Karaf writes -user for --user
			text = "-" + o.Name
		}
		if !given[o.Name] && strings.HasPrefix(text, prefix) {
			out = append(out, Candidate{
				Text: text,
				Help: o.Help,
			})
		}
	}
	return out
}

// completeValues asks a completer; one that breaks or hangs gives nothing.
func completeValues(
	ctx context.Context,
	before, prefix string,
	fixed []string,
	complete func(context.Context, string) []string,
	taken []string,
) []Candidate {
	list := slices.Clone(fixed)
	if complete != nil {
		answer := make(chan []string, 1)
		go func() {
			defer func() {
				if recover() != nil {
					answer <- nil
				}
			}()
			answer <- complete(ctx, prefix)
		}()
		select {
		case more := <-answer:
			list = append(list, more...)
		case <-ctx.Done():
		}
	}
	slices.Sort(list)
	var out []Candidate
	for _, v := range slices.Compact(list) {
		if strings.HasPrefix(v, prefix) && !slices.Contains(taken, v) {
			out = append(out, Candidate{Text: before + v})
		}
	}
	return out
}
