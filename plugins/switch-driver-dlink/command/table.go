package command

import (
	"regexp"
	"strconv"
	"strings"

	"ctl.internal/sdk/switchdriver"
)

// Table is the access profiles of a switch, by id.
type Table map[uint32]*Profile

// Profile is one of them.
type Profile struct {
	Name  string
	Rules map[uint32]bool
}

// find finds the profile that a request names: by its id, else by its name.
func (t Table) find(p *switchdriver.ACLProfile) *Profile {
	if p.GetProfileId() != 0 {
		return t[p.GetProfileId()]
	}
	return t.named(p.GetProfileName())
}

func (t Table) named(name string) *Profile {
	for _, p := range t {
		if name != "" && p.Name == name {
			return p
		}
	}
	return nil
}

// Parser reads answers. Make one with NewParser and keep it.
type Parser struct{ title, profile, rule, stp, port, success *regexp.Regexp }

// NewParser makes a Parser.
func NewParser() *Parser {
	return &Parser{
		title:   regexp.MustCompile(`(?i)access profile table|total[ \t]+(?:user|unused|used)|access profiles?[ \t]*:`),
		profile: regexp.MustCompile(`(?i)^\s*(?:access )?profile id\s*:\s*(\d{1,5})(?:\s+profile name\s*:\s*(\S+))?`),
		rule:    regexp.MustCompile(`(?i)^\s*(?:rule|access) id\s*:\s*(\d{1,5})`),
		stp:     regexp.MustCompile(`(?im)^\s*stp status\s*:\s*(enabled?|disabled?)`),
		port:    regexp.MustCompile(`(?i)port stp\s*:\s*(enabled?|disabled?)`),
		success: regexp.MustCompile(`(?im)^\s*success\b`),
	}
}

// Table reads the answer to ShowACL; false: it is no such answer.
func (p *Parser) Table(text string) (Table, bool) {
	t := Table{}
	var last *Profile
	for line := range strings.SplitSeq(text, "\n") {
		if m := p.profile.FindStringSubmatch(line); m != nil {
			id, err := strconv.ParseUint(m[1], 10, 16)
			if err != nil {
				continue
			}
			last = &Profile{Name: m[2], Rules: map[uint32]bool{}}
			t[uint32(id)] = last
		} else if m := p.rule.FindStringSubmatch(line); m != nil && last != nil {
			if id, err := strconv.ParseUint(m[1], 10, 16); err == nil {
				last.Rules[uint32(id)] = true
			}
		}
	}
	return t, len(t) > 0 || p.title.MatchString(text)
}

// STP reads the state of the spanning tree; known is false when the answer does not tell.
func (p *Parser) STP(text string) (on, known bool) { return state(p.stp, text) }

// PortSTP reads the state of one port's spanning tree.
func (p *Parser) PortSTP(text string) (on, known bool) { return state(p.port, text) }

func state(form *regexp.Regexp, text string) (on, known bool) {
	m := form.FindStringSubmatch(text)
	return m != nil && strings.HasPrefix(strings.ToLower(m[1]), "enable"), m != nil
}

// Success reports whether a command was carried out: the switch says so in a line.
func (p *Parser) Success(text string) bool { return p.success.MatchString(text) }

// Reason is what a switch says to a command that it does not carry out, in one line
// of printable characters.
func Reason(text string) string {
	var said []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return -1
			}
			return r
		}, line))
		if line != "" && !strings.HasPrefix(line, "Command:") {
			said = append(said, line)
		}
	}
	out := strings.Join(said, " / ")
	if len(out) > 200 {
		out = out[:200] + "…"
	}
	if out == "" {
		return "nothing"
	}
	return out
}

// Saved reports whether "save" was carried out.
func (p *Parser) Saved(text string) bool {
	return p.Success(text) || strings.Contains(strings.ToLower(text), "done")
}
