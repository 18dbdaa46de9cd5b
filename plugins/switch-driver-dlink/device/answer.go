package device

import (
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/switchdriver"
)

// Parser reads answers. Make one with NewParser and keep it.
type Parser struct {
	title, profile, kind, rule, ports, action, stp, port, success *regexp.Regexp
	vlan, vlanMask, vlanID, src, dst                              *regexp.Regexp
	forms                                                         portForms
}

// NewParser makes a Parser.
func NewParser() *Parser {
	return &Parser{
		forms:   newPortForms(),
		title:   regexp.MustCompile(`(?i)access profile table|total[ \t]+(?:user|unused|used)|access profiles?[ \t]*:`),
		profile: regexp.MustCompile(`(?i)^\s*(?:access )?profile id\s*:\s*(\d{1,5})(?:\s+profile name\s*:\s*(\S+))?`),
		kind:    regexp.MustCompile(`(?i)\stype\s*:\s*(ethernet|ip(?:v4)?)\s*$`),
		rule:    regexp.MustCompile(`(?i)^\s*(?:rule|access) id\s*:\s*(\d{1,5})`),
		ports:   regexp.MustCompile(`(?i)\sports?\s*:\s*([0-9:,-]+)\s*$`),
		action:  regexp.MustCompile(`(?i)^\s*(?:action\s*:\s*)?(permit|deny)\s*$`),
		stp:     regexp.MustCompile(`(?im)^\s*stp status\s*:\s*(enabled?|disabled?)`),
		port:    regexp.MustCompile(`(?i)port stp\s*:\s*(enabled?|disabled?)`),
		success: regexp.MustCompile(`(?im)^\s*success\b`),

		vlan:     regexp.MustCompile(`(?i)\bvlan(?:\b|_)`),
		vlanMask: regexp.MustCompile(`(?i)\bvlan\s*:?\s*0x([0-9a-f]{1,4})\b`),
		vlanID:   regexp.MustCompile(`(?i)\bvlan(?:[ _]id)?\s*:?\s*(\d{1,4})\b`),
		src:      regexp.MustCompile(`(?i)\bsource[ _]ip(?:[ _]mask)?\s*:?\s*(\d+\.\d+\.\d+\.\d+)`),
		dst:      regexp.MustCompile(`(?i)\bdestination[ _]ip(?:[ _]mask)?\s*:?\s*(\d+\.\d+\.\d+\.\d+)`),
	}
}

// Table reads the answer to ShowACL: profiles with their masks and rules, and of these
// what the contract has. false: it is no such answer.
func (p *Parser) Table(text string) (table []*switchdriver.ACLEntry, ok bool) {
	var profile *switchdriver.ACLEntry
	var rule *switchdriver.ACLRule
	odd := map[any]bool{} // profiles and rules of which not all is understood
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if m := p.profile.FindStringSubmatch(line); m != nil {
			profile, rule = nil, nil
			id, err := strconv.ParseUint(m[1], 10, 16)
			if err == nil && id > 0 {
				profile = &switchdriver.ACLEntry{Profile: &switchdriver.ACLProfile{
					ProfileId:   uint32(id),
					ProfileName: m[2],
					Layer:       p.parseLayer(line),
				}}
				table = append(table, profile)
			}
		} else if m := p.rule.FindStringSubmatch(line); m != nil && profile != nil {
			rule = nil
			if id, err := strconv.ParseUint(m[1], 10, 16); err == nil {
				rule = &switchdriver.ACLRule{
					RuleId: uint32(id),
					Layer:  profile.Profile.Layer,
					Ports:  p.parsePortList(line),
				}
				profile.Rules = append(profile.Rules, rule)
			}
		} else if m := p.action.FindStringSubmatch(line); m != nil && rule != nil {
			rule.Action = strings.ToUpper(m[1])
		} else if rule != nil && !p.parseValues(rule, line) {
			odd[rule] = true
		} else if rule == nil && profile != nil && !p.parseMasks(profile.Profile, line) {
			odd[profile.Profile] = true
		}
	}
	// Of what is not understood a half is worse than nothing: it would be compared.
	for _, e := range table {
		if q := e.Profile; odd[q] {
			q.VlanMask, q.SrcIpMask, q.DstIpMask = nil, "", ""
		}
		for _, r := range e.Rules {
			if odd[r] {
				r.VlanId, r.SrcIp, r.DstIp = nil, "", ""
			}
		}
	}
	return table, len(table) > 0 || p.title.MatchString(text)
}

// parseLayer is the one a profile's line reports, empty for one that this contract has not.
func (p *Parser) parseLayer(line string) string {
	m := p.kind.FindStringSubmatch(line)
	switch {
	case m == nil:
		return ""
	case strings.EqualFold(m[1], "ethernet"):
		return switchdriver.LayerEthernet
	}
	return switchdriver.LayerIP
}

// parseMasks reads a line after "MASK on"; false: it reports a VLAN in another way.
func (p *Parser) parseMasks(q *switchdriver.ACLProfile, line string) bool {
	parseAddress(p.src, line, &q.SrcIpMask)
	parseAddress(p.dst, line, &q.DstIpMask)
	return p.parseNumber(line, p.vlanMask, 16, 0, 0xfff, &q.VlanMask)
}

// parseValues reads a line after "Match on"; false: it reports a VLAN in another way.
func (p *Parser) parseValues(r *switchdriver.ACLRule, line string) bool {
	parseAddress(p.src, line, &r.SrcIp)
	parseAddress(p.dst, line, &r.DstIp)
	return p.parseNumber(line, p.vlanID, 10, 1, switchdriver.MaxVLANID, &r.VlanId)
}

// parseNumber reads a VLAN or the mask of one from a line that has it in a form; false: it has it in another, or beyond its bounds.
func (p *Parser) parseNumber(
	line string,
	form *regexp.Regexp,
	base int,
	least, most uint64,
	to **uint32,
) bool {
	m := form.FindStringSubmatch(line)
	if m == nil {
		return !p.vlan.MatchString(line)
	}
	n, err := strconv.ParseUint(m[1], base, 16)
	if err != nil || n < least || n > most {
		return false
	}
	*to = proto.Uint32(uint32(n))
	return true
}

func parseAddress(form *regexp.Regexp, line string, to *string) {
	m := form.FindStringSubmatch(line)
	if m != nil && len(m[1]) <= len("255.255.255.255") {
		*to = m[1]
	}
}

// STP reads the state of the spanning tree; known is false if the answer does not contain it.
func (p *Parser) STP(text string) (on, known bool) {
	return parseState(p.stp, text)
}

// PortSTP reads the state of one port's spanning tree.
func (p *Parser) PortSTP(text string) (on, known bool) {
	return parseState(p.port, text)
}

func parseState(form *regexp.Regexp, text string) (on, known bool) {
	m := form.FindStringSubmatch(text)
	return m != nil && strings.HasPrefix(strings.ToLower(m[1]), "enable"), m != nil
}

// Success reports whether a command was carried out: the switch says so in a line.
func (p *Parser) Success(text string) bool {
	return p.success.MatchString(text)
}

// Saved reports whether "save" was carried out.
func (p *Parser) Saved(text string) bool {
	return p.Success(text) || strings.Contains(strings.ToLower(text), "done")
}

// unitPorts is how many numbers each unit of a stack has: port 1 of unit 2 is port 65,
// as in the PortLists and the ifIndexes of these switches.
const unitPorts = 64

// maxPorts bounds the ports of a rule: a range may be a lie.
const maxPorts = 4096

// parsePortList is the ports of a rule's line, "1,3-5" or on stacks "1:1-1:3,2:7"; nil when it is
// no such list.
func (p *Parser) parsePortList(line string) (out []uint32) {
	m := p.ports.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	for part := range strings.SplitSeq(m[1], ",") {
		low, high, ranged := strings.Cut(part, "-")
		unit, from, ok := parsePort(low, 0)
		last := unit
		to := from
		ok2 := ok
		if ranged {
			last, to, ok2 = parsePort(high, unit)
		}
		if !ok || !ok2 || last != unit || to < from || len(out)+to-from >= maxPorts {
			return nil // a range over units: the switch does not say which ports these have
		}
		base := max(0, unit-1) * unitPorts
		for n := from; n <= to; n++ {
			out = append(out, uint32(base+n))
		}
	}
	return out
}

// parsePort reads "7", of the unit that is given, or "2:7".
func parsePort(s string, of int) (unit, n int, ok bool) {
	unit = of
	if u, rest, has := strings.Cut(s, ":"); has {
		v, err := strconv.ParseUint(u, 10, 8)
		if err != nil || v == 0 {
			return 0, 0, false
		}
		unit, s = int(v), rest
	}
	v, err := strconv.ParseUint(s, 10, 16)
	return unit, int(v), err == nil && v > 0 && (unit == 0 || v <= unitPorts)
}
