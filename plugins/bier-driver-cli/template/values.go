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

func numberKind(most uint64) kind {
	return kind{`[0-9]{1,10}`, func(v string) string {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil || n > most {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}}
}

func wordKind(words ...string) kind {
	return kind{strings.Join(words, "|"), func(v string) string {
		if slices.Contains(words, v) {
			return v
		}
		return ""
	}}
}

func addressKind() kind {
	return kind{`[0-9a-fA-F.:]{2,45}`, func(v string) string {
		a, err := netip.ParseAddr(v)
		if err != nil || a.Zone() != "" {
			return ""
		}
		return a.String()
	}}
}

// addressListKind is a list of them in one line, ascending.
func addressListKind() kind {
	one := addressKind()
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

func prefixKind(bits int) kind {
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

// placeholderKinds are all placeholders there are, by their names.
func placeholderKinds() map[string]kind {
	id := numberKind(65535)
	return map[string]kind{
		"encapsulation":             wordKind("mpls"),
		"bitstringlength":           id,
		"bfr-id":                    id,
		"ipv4-bfr-prefix":           prefixKind(32),
		"ipv6-bfr-prefix":           prefixKind(128),
		"sub-domain-id":             numberKind(255),
		"igp-type":                  wordKind("ISIS", "OSPF"),
		"mt-id":                     id,
		"family":                    wordKind("ipv4", "ipv6"),
		"label-base":                numberKind(1<<20 - 1),
		"range-size":                numberKind(255),
		"vpn-id":                    numberKind(1<<32 - 1),
		"source-address":            addressKind(),
		"source-wildcard":           numberKind(255),
		"group-address":             addressKind(),
		"group-wildcard":            numberKind(255),
		"sub-domain":                numberKind(255),
		"ingress-bfr-id":            id,
		"egress-bfr-id":             id,
		"port":                      port(),
		"effective-bfr-id":          id,
		"effective-bitstringlength": id,
		"number":                    numberKind(maxNumber),
		"egress-addresses":          addressListKind(),
		"source-ipv4":               addressKind(),
		"group-ipv4":                addressKind(),
		"source-ipv6":               addressKind(),
		"group-ipv6":                addressKind(),
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

func compileLine(text string, allowed []string) (*line, error) {
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
		look.WriteString(regexp.QuoteMeta(fixed) + "(" + placeholderKinds()[name].look + ")")
		rest = text[m[1]:]
	}
	look.WriteString(regexp.QuoteMeta(rest) + "$")
	if !plain.MatchString(placeholder.ReplaceAllString(text, "")) ||
		strings.TrimSpace(text) != text ||
		text == "" {
		return nil, fmt.Errorf("a template is letters, digits, blanks and ._:/- around its {placeholders}")
	}
	var err error
	l.match, err = regexp.Compile(look.String())
	return l, err
}

// hasPlaceholders reports whether the line, which may be nil, has all of these placeholders.
func (l *line) hasPlaceholders(names string) bool {
	for _, n := range strings.Fields(names) {
		if l == nil || !slices.Contains(l.names, n) {
			return false
		}
	}
	return true
}

// addressFamily is the family of addresses that the line is for, "" if it is for all.
func (l *line) addressFamily() string {
	for _, family := range []string{"ipv4", "ipv6"} {
		if l.hasPlaceholders("source-"+family) || l.hasPlaceholders("group-"+family) {
			return family
		}
	}
	return ""
}

// missingValue is the first placeholder that has no value, "" if none.
func (l *line) missingValue(v values) string {
	for _, name := range l.names {
		if v[name] == "" {
			return name
		}
	}
	return ""
}

// fillValues fills a template in; ok is false when a value is missing.
func (l *line) fillValues(v values) (text string, ok bool, err error) {
	text = l.text
	for _, name := range l.names {
		given := v[name]
		if given == "" {
			return "", false, nil
		}
		safe := placeholderKinds()[name].canonical(given)
		if safe == "" {
			return "", false, fmt.Errorf("%.60q is not a %s for a command line", given, name)
		}
		text = strings.Replace(text, "{"+name+"}", safe, 1)
	}
	return text, true, nil
}

// readValues finds the values of a line; nil: it is not of this template.
func (l *line) readValues(text string) values {
	m := l.match.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	v := values{}
	for i, name := range l.names {
		canonical := placeholderKinds()[name].canonical(m[i+1])
		if canonical == "" || v[name] != "" && v[name] != canonical {
			return nil
		}
		v[name] = canonical
	}
	return v
}
