package template

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is the type of a placeholder: what it looks like at a command line, and its
// one canonical form; "" is no such value.
type kind struct {
	look      string
	canonical func(string) string
}

func number(most uint64) kind {
	return kind{`[0-9]{1,10}`, func(v string) string {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil || n > most {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}}
}

func word(words ...string) kind {
	return kind{strings.Join(words, "|"), func(v string) string {
		if slices.Contains(words, v) {
			return v
		}
		return ""
	}}
}

func address() kind {
	return kind{`[0-9a-fA-F.:]{2,45}`, func(v string) string {
		a, err := netip.ParseAddr(v)
		if err != nil || a.Zone() != "" {
			return ""
		}
		return a.String()
	}}
}

// addresses is a list of them in one line, ascending.
func addresses() kind {
	one := address()
	return kind{one.look + "(?: " + one.look + ")*", func(v string) string {
		var all []netip.Addr
		for _, f := range strings.Fields(v) {
			a, err := netip.ParseAddr(f)
			if err != nil || a.Zone() != "" {
				return ""
			}
			all = append(all, a)
		}
		slices.SortFunc(all, netip.Addr.Compare)
		out := make([]string, len(all))
		for i, a := range all {
			out[i] = a.String()
		}
		return strings.Join(out, " ")
	}}
}

func prefix(bits int) kind {
	return kind{`[0-9a-fA-F.:]{2,45}/[0-9]{1,3}`, func(v string) string {
		p, err := netip.ParsePrefix(v)
		if err != nil || p.Addr().BitLen() != bits {
			return ""
		}
		return p.Masked().String()
	}}
}

// portName is what a port may be called at a command line.
const portName = `[A-Za-z0-9][A-Za-z0-9._/:-]{0,63}`

func port() kind {
	return kind{portName, func(v string) string {
		if wholePort.MatchString(v) {
			return v
		}
		return ""
	}}
}

// kinds are all placeholders there are, by their names.
func kinds() map[string]kind {
	id := number(65535)
	return map[string]kind{
		"encapsulation": word("mpls"), "bitstringlength": id, "bfr-id": id, "ipv4-bfr-prefix": prefix(32), "ipv6-bfr-prefix": prefix(128),
		"sub-domain-id": number(255), "igp-type": word("ISIS", "OSPF"), "mt-id": id, "family": word("ipv4", "ipv6"),
		"label-base": number(1<<20 - 1), "range-size": number(255),
		"vpn-id": number(1<<32 - 1), "source-address": address(), "source-wildcard": number(255), "group-address": address(), "group-wildcard": number(255),
		"sub-domain": number(255), "ingress-bfr-id": id, "egress-bfr-id": id,
		"port": port(), "effective-bfr-id": id, "effective-bitstringlength": id, "number": number(maxNumber), "egress-addresses": addresses(),
		"source-ipv4": address(), "group-ipv4": address(), "source-ipv6": address(), "group-ipv6": address(),
	}
}

// values are what placeholders stand for. A missing one leaves its line out.
type values map[string]string

// line is a compiled template.
type line struct {
	text  string
	names []string // in the order of the text
	match *regexp.Regexp
}

var (
	placeholder = regexp.MustCompile(`\{([a-z0-9-]+)\}`)
	// plain is what the fixed text of a template may hold.
	plain = regexp.MustCompile(`^[A-Za-z0-9 ._:/-]*$`)
	// wholePort is the name of a port and nothing else.
	wholePort = regexp.MustCompile("^" + portName + "$")
)

func compile(text string, allowed []string) (*line, error) {
	l := &line{text: text}
	var look strings.Builder
	look.WriteString("^")
	rest := text
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("{%s} has no meaning here", name)
		}
		l.names = append(l.names, name)
		fixed := rest[:len(rest)-(len(text)-m[0])]
		look.WriteString(regexp.QuoteMeta(fixed) + "(" + kinds()[name].look + ")")
		rest = text[m[1]:]
	}
	look.WriteString(regexp.QuoteMeta(rest) + "$")
	if !plain.MatchString(placeholder.ReplaceAllString(text, "")) || strings.TrimSpace(text) != text || text == "" {
		return nil, fmt.Errorf("a template is letters, digits, blanks and ._:/- around its {placeholders}")
	}
	var err error
	l.match, err = regexp.Compile(look.String())
	return l, err
}

// has reports whether the line, which may be nil, has all of these placeholders.
func (l *line) has(names string) bool {
	for _, n := range strings.Fields(names) {
		if l == nil || !slices.Contains(l.names, n) {
			return false
		}
	}
	return true
}

// family is the family of addresses that the line is for, "" if it is for all.
func (l *line) family() string {
	for _, family := range []string{"ipv4", "ipv6"} {
		if l.has("source-"+family) || l.has("group-"+family) {
			return family
		}
	}
	return ""
}

// missing is the first placeholder that has no value, "" if none.
func (l *line) missing(v values) string {
	for _, name := range l.names {
		if v[name] == "" {
			return name
		}
	}
	return ""
}

// write fills a template in; ok is false when a value is missing.
func (l *line) write(v values) (text string, ok bool, err error) {
	text = l.text
	for _, name := range l.names {
		given := v[name]
		if given == "" {
			return "", false, nil
		}
		safe := kinds()[name].canonical(given)
		if safe == "" {
			return "", false, fmt.Errorf("%.60q is not a %s for a command line", given, name)
		}
		text = strings.Replace(text, "{"+name+"}", safe, 1)
	}
	return text, true, nil
}

// read finds the values of a line; nil: it is not of this template.
func (l *line) read(text string) values {
	m := l.match.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	v := values{}
	for i, name := range l.names {
		canonical := kinds()[name].canonical(m[i+1])
		if canonical == "" || v[name] != "" && v[name] != canonical {
			return nil
		}
		v[name] = canonical
	}
	return v
}
