package engine

import (
	"slices"
	"strings"

	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/commands"
)

// secretParts are what the name of an option or argument contains when its value
// is not for the history or the audit log.
var secretParts = []string{"password", "pwd", "pass", "secret", "community", "token"}

const masked = "***"

func secretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretParts, func(p string) bool {
		return strings.Contains(name, p)
	})
}

// secretOption reports whether a word names an option whose value is secret, in
// itself, by the option that it is short for, or by the one that was misspelt.
func secretOption(c commands.Command, w string) (name, value string, inline, secret bool) {
	if len(w) < 2 || w[0] != '-' {
		return "", "", false, false
	}
	name, value, inline = strings.Cut(strings.TrimLeft(w, "-"), "=")
	o, known := findOption(c.Options, name)
	if known && o.Type == commands.Bool {
		return name, value, inline, false
	}
	if known {
		return name, value, inline, o.Secret || secretName(name) || secretName(o.Name)
	}
	_, misspelt := nearest.Name(name, secretParts)
	return name, value, inline, misspelt || secretName(name)
}

// redactWords returns a stage as it may be written down, and whether it held a secret.
// c is the zero Command when the name is not known.
func redactWords(c commands.Command, words []string) (string, bool) {
	out, found := make([]string, 0, len(words)), false
	arg := 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, _, inline, secret := secretOption(c, w)
		switch {
		case i > 0 && secret && inline:
			w, found = w[:strings.IndexByte(w, '=')+1]+masked, true
		case i > 0 && secret:
			found = true
			if i++; i < len(words) {
				out = append(out, w)
				w = masked
			}
		case i > 0 && name != "":
			o, ok := findOption(c.Options, name)
			if ok && o.Type != commands.Bool && !inline && i+1 < len(words) {
				out = append(out, console.Quote(w))
				i++
				w = words[i]
			}
		case i > 0:
			n := min(arg, len(c.Arguments)-1)
			if n >= 0 && (c.Arguments[n].Secret || secretName(c.Arguments[n].Name)) {
				w, found = masked, true
			}
			arg++
		}
		out = append(out, console.Quote(w))
	}
	return strings.Join(out, " "), found
}

// Sensitive reports whether a line carries a secret and must not be kept.
func (s *Session) Sensitive(line string) bool {
	parsed, err := syntax.Parse(line)
	if err != nil { // what cannot be read is judged by its look
		return slices.ContainsFunc(strings.Fields(line), secretFlag)
	}
	x := s.currentIndex()
	for _, p := range parsed {
		for _, stage := range p {
			if _, secret := s.redactStage(x, stage); secret {
				return true
			}
		}
	}
	return false
}

func (s *Session) redactStage(x *index, stage syntax.Stage) (string, bool) {
	words := stage.Texts()
	c, _ := x.findCommand(s.Scope(), words[0])
	text, secret := redactWords(c, words)
	if secret || len(words) < 2 {
		return text, secret
	}
	// watch, alias and the like carry a whole line of their own
	for _, w := range words[1:] {
		for _, part := range strings.Fields(w) {
			n := strings.TrimLeft(part, "-")
			if n != part && secretName(n) && strings.ContainsAny(w, " ") {
				return words[0] + " " + masked, true
			}
		}
	}
	if (c.Name == shellScope+":watch" || c.Name == shellScope+":alias") &&
		slices.ContainsFunc(words[1:], secretFlag) {
		return words[0] + " " + masked, true
	}
	return text, false
}

func secretFlag(w string) bool {
	return strings.HasPrefix(w, "-") && secretName(w)
}
