package command

import (
	"regexp"
	"strconv"
	"strings"

	"ctl.internal/sdk/switchdriver"
)

// Parser reads answers. Make one with NewParser and keep it.
type Parser struct{ title, profile, kind, rule, ports, action, stp, port, success *regexp.Regexp }

// NewParser makes a Parser.
func NewParser() *Parser {
	return &Parser{
		title:   regexp.MustCompile(`(?i)access profile table|total[ \t]+(?:user|unused|used)|access profiles?[ \t]*:`),
		profile: regexp.MustCompile(`(?i)^\s*(?:access )?profile id\s*:\s*(\d{1,5})(?:\s+profile name\s*:\s*(\S+))?`),
		kind:    regexp.MustCompile(`(?i)\stype\s*:\s*(ethernet|ip(?:v4)?)\s*$`),
		rule:    regexp.MustCompile(`(?i)^\s*(?:rule|access) id\s*:\s*(\d{1,5})`),
		ports:   regexp.MustCompile(`(?i)\sports?\s*:\s*([0-9,-]+)\s*$`),
		action:  regexp.MustCompile(`(?i)^\s*(?:action\s*:\s*)?(permit|deny)\s*$`),
		stp:     regexp.MustCompile(`(?im)^\s*stp status\s*:\s*(enabled?|disabled?)`),
		port:    regexp.MustCompile(`(?i)port stp\s*:\s*(enabled?|disabled?)`),
		success: regexp.MustCompile(`(?im)^\s*success\b`),
	}
}

// Table reads the answer to ShowACL: profiles with their rules, and of these what all
// releases show alike. false: it is no such answer.
func (p *Parser) Table(text string) (table []*switchdriver.ACLEntry, ok bool) {
	var profile *switchdriver.ACLEntry
	var rule *switchdriver.ACLRule
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if m := p.profile.FindStringSubmatch(line); m != nil {
			profile, rule = nil, nil
			if id, err := strconv.ParseUint(m[1], 10, 16); err == nil && id > 0 {
				profile = &switchdriver.ACLEntry{Profile: &switchdriver.ACLProfile{ProfileId: uint32(id), ProfileName: m[2], Layer: p.layer(line)}}
				table = append(table, profile)
			}
		} else if m := p.rule.FindStringSubmatch(line); m != nil && profile != nil {
			rule = nil
			if id, err := strconv.ParseUint(m[1], 10, 16); err == nil {
				rule = &switchdriver.ACLRule{RuleId: uint32(id), Layer: profile.Profile.Layer, Ports: p.list(line)}
				profile.Rules = append(profile.Rules, rule)
			}
		} else if m := p.action.FindStringSubmatch(line); m != nil && rule != nil {
			rule.Action = strings.ToUpper(m[1])
		}
	}
	return table, len(table) > 0 || p.title.MatchString(text)
}

// layer is the one a profile's line tells, empty for one that this contract has not.
func (p *Parser) layer(line string) string {
	m := p.kind.FindStringSubmatch(line)
	switch {
	case m == nil:
		return ""
	case strings.EqualFold(m[1], "ethernet"):
		return switchdriver.LayerEthernet
	}
	return switchdriver.LayerIP
}

// maxPorts bounds the ports of a rule: a range may be a lie.
const maxPorts = 4096

// list is the ports of a rule's line, "1,3-5"; nil when it is not such a list, as on
// stacks ("1:1-1:3").
func (p *Parser) list(line string) (out []uint32) {
	m := p.ports.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	for part := range strings.SplitSeq(m[1], ",") {
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 16)
		to, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || from == 0 || to < from || uint64(len(out))+to-from >= maxPorts {
			return nil
		}
		for n := from; n <= to; n++ {
			out = append(out, uint32(n))
		}
	}
	return out
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
