package simcli

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// config is a running configuration: sections in order, each with its lines.
type config struct {
	headers []string
	lines   map[string][]string
}

// grammar is what the router takes: the pattern of a header, and those of its lines.
type grammar struct {
	header *regexp.Regexp
	lines  []*regexp.Regexp
}

func compileLinePattern(s string) *regexp.Regexp {
	return regexp.MustCompile("^" + s + "$")
}

// grammars lists the sections of the router. A line whose key, the captured part, is
// set already replaces that line.
var grammars = sync.OnceValue(func() []grammar {
	const id, label, bits = `[0-9]{1,5}`, `[0-9]{1,7}`, `(?:64|128|256|512|1024|2048|4096)`
	const address = `[0-9a-f.:]{2,39}`
	return []grammar{
		{compileLinePattern("router bier"), []*regexp.Regexp{
			compileLinePattern(`(encapsulation) mpls`), compileLinePattern(`(bitstringlength) ` + bits), compileLinePattern(`(bfr-id) ` + id),
			compileLinePattern(`(ipv4-prefix) ` + address + `/[0-9]{1,2}`), compileLinePattern(`(ipv6-prefix) ` + address + `/[0-9]{1,3}`),
			compileLinePattern(`(sub-domain ` + id + `)`), compileLinePattern(`(sub-domain ` + id + ` igp) (?:ISIS|OSPF)`), compileLinePattern(`(sub-domain ` + id + ` mt-id) ` + id),
			compileLinePattern(`(sub-domain ` + id + ` bfr-id) ` + id), compileLinePattern(`(sub-domain ` + id + ` bitstringlength) ` + bits),
			compileLinePattern(`(sub-domain ` + id + ` ipv[46] ` + bits + ` label ` + label + `) size [0-9]{1,3}`),
		}},
		{compileLinePattern(`interface tunnel[0-9]{1,10}`), []*regexp.Regexp{
			compileLinePattern(`(description) .{1,200}`), compileLinePattern(`(tunnel (?:key|vrf|source|destination|mode)) [a-z0-9.:]{1,40}`),
			compileLinePattern(`(tunnel domain-name)(?: ` + address + `)+`), compileLinePattern(`(vrf forwarding) [a-z0-9]{1,20}`), compileLinePattern(`(ipv[46] address) ` + address + ` ` + address),
			compileLinePattern(`(ipv[46] multicast static-group ` + address + ` ` + address + `)`),
		}},
		{compileLinePattern(`router lsrp4 [0-9]{1,5}`), []*regexp.Regexp{
			compileLinePattern(`(bier) ` + bits + ` ` + id + ` ` + id + ` ` + id), compileLinePattern(`(router-id) ` + address), compileLinePattern(`(vrf) [a-z0-9]{1,20}`),
		}},
		{compileLinePattern(`multicast bier ` + address + ` ` + id + ` ` + address + ` ` + id + ` vpn [0-9]{1,10}`), []*regexp.Regexp{
			compileLinePattern(`(sub-domain) ` + id), compileLinePattern(`(ingress) ` + id), compileLinePattern(`(egress ` + id + `)`), compileLinePattern(`(port [A-Za-z0-9._/:-]{1,64})`),
		}},
	}
})

// enterSection begins a section; false: there is no such section.
func (c *config) enterSection(header string) bool {
	for _, g := range grammars() {
		if g.header.MatchString(header) {
			if !slices.Contains(c.headers, header) {
				c.headers = append(c.headers, header)
			}
			return true
		}
	}
	return false
}

func (c *config) deleteSection(header string) bool {
	i := slices.Index(c.headers, header)
	if i < 0 {
		return false
	}
	c.headers = slices.Delete(c.headers, i, i+1)
	delete(c.lines, header)
	return true
}

// lineKey is what a line sets, empty if the section has no such line.
func lineKey(header, line string) string {
	for _, g := range grammars() {
		if !g.header.MatchString(header) {
			continue
		}
		for _, l := range g.lines {
			if m := l.FindStringSubmatch(line); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

func (c *config) setLine(header, line string) bool {
	k := lineKey(header, line)
	if k == "" {
		return false
	}
	c.unsetLine(header, line)
	c.lines[header] = append(c.lines[header], line)
	return true
}

func (c *config) unsetLine(header, line string) bool {
	k, before := lineKey(header, line), len(c.lines[header])
	c.lines[header] = slices.DeleteFunc(c.lines[header], func(have string) bool {
		return lineKey(header, have) == k
	})
	return k != "" && len(c.lines[header]) < before
}

// lineValue is what follows the beginning of a line of a section.
func (c *config) lineValue(header, begin string) string {
	for _, l := range c.lines[header] {
		if rest, ok := strings.CutPrefix(l, begin); ok {
			return rest
		}
	}
	return ""
}

// String is what "show running-config" says.
func (c *config) String() string {
	var b strings.Builder
	b.WriteString("hostname lab\n!\n")
	for _, h := range c.headers {
		b.WriteString(h + "\n")
		for _, l := range c.lines[h] {
			b.WriteString(" " + l + "\n")
		}
		b.WriteString(" exit\n!\n")
	}
	return b.String()
}
