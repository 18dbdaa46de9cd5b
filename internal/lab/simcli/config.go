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

func pattern(s string) *regexp.Regexp { return regexp.MustCompile("^" + s + "$") }

// grammars lists the sections of the router. A line whose key, the captured part, is
// set already replaces that line.
var grammars = sync.OnceValue(func() []grammar {
	const id, label, bits = `[0-9]{1,5}`, `[0-9]{1,7}`, `(?:64|128|256|512|1024|2048|4096)`
	const address = `[0-9a-f.:]{2,39}`
	return []grammar{
		{pattern("router bier"), []*regexp.Regexp{
			pattern(`(encapsulation) mpls`), pattern(`(bitstringlength) ` + bits), pattern(`(bfr-id) ` + id),
			pattern(`(ipv4-prefix) ` + address + `/[0-9]{1,2}`), pattern(`(ipv6-prefix) ` + address + `/[0-9]{1,3}`),
			pattern(`(sub-domain ` + id + `)`), pattern(`(sub-domain ` + id + ` igp) (?:ISIS|OSPF)`), pattern(`(sub-domain ` + id + ` mt-id) ` + id),
			pattern(`(sub-domain ` + id + ` bfr-id) ` + id), pattern(`(sub-domain ` + id + ` bitstringlength) ` + bits),
			pattern(`(sub-domain ` + id + ` ipv[46] ` + bits + ` label ` + label + `) size [0-9]{1,3}`),
		}},
		{pattern(`interface tunnel[0-9]{1,10}`), []*regexp.Regexp{
			pattern(`(description) .{1,200}`), pattern(`(tunnel (?:key|vrf|source|destination|mode)) [a-z0-9.:]{1,40}`),
			pattern(`(tunnel domain-name)(?: ` + address + `)+`), pattern(`(vrf forwarding) [a-z0-9]{1,20}`), pattern(`(ipv[46] address) ` + address + ` ` + address),
			pattern(`(ipv[46] multicast static-group ` + address + ` ` + address + `)`),
		}},
		{pattern(`router lsrp4 [0-9]{1,5}`), []*regexp.Regexp{
			pattern(`(bier) ` + bits + ` ` + id + ` ` + id + ` ` + id), pattern(`(router-id) ` + address), pattern(`(vrf) [a-z0-9]{1,20}`),
		}},
		{pattern(`multicast bier ` + address + ` ` + id + ` ` + address + ` ` + id + ` vpn [0-9]{1,10}`), []*regexp.Regexp{
			pattern(`(sub-domain) ` + id), pattern(`(ingress) ` + id), pattern(`(egress ` + id + `)`), pattern(`(port [A-Za-z0-9._/:-]{1,64})`),
		}},
	}
})

// enter begins a section; false: there is no such section.
func (c *config) enter(header string) bool {
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

func (c *config) leave(header string) bool {
	i := slices.Index(c.headers, header)
	if i < 0 {
		return false
	}
	c.headers = slices.Delete(c.headers, i, i+1)
	delete(c.lines, header)
	return true
}

// key is what a line sets, empty if the section has no such line.
func key(header, line string) string {
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

func (c *config) set(header, line string) bool {
	k := key(header, line)
	if k == "" {
		return false
	}
	c.unset(header, line)
	c.lines[header] = append(c.lines[header], line)
	return true
}

func (c *config) unset(header, line string) bool {
	k, before := key(header, line), len(c.lines[header])
	c.lines[header] = slices.DeleteFunc(c.lines[header], func(have string) bool { return key(header, have) == k })
	return k != "" && len(c.lines[header]) < before
}

// value is what follows the beginning of a line of a section.
func (c *config) value(header, begin string) string {
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
