package yang

import (
	"slices"
	"strings"
)

// spaces are the XML namespaces of the modules of a Set.
type spaces struct {
	module map[string]string // namespace → module
	uri    map[string]string // module → namespace
	// derived are the identities that are derived from one, all by module:name.
	derived map[string][]string
}

// fromXMLPath turns an instance-identifier of XML, whose prefixes lookup knows, into that of JSON.
func fromXMLPath(s string, lookup func(prefix string) (string, bool)) (string, bool) {
	return convertPath(s, func(prefix, _ string) (string, bool) {
		return lookup(prefix)
	}, func(module, above string) string {
		if module == above {
			return ""
		}
		return module + ":"
	})
}

// toXMLPath turns an instance-identifier of JSON into that of XML, where each name has a prefix,
// here the name of its module. used are those modules.
func toXMLPath(s string) (text string, used []string) {
	text, ok := convertPath(s, func(prefix, above string) (string, bool) {
		if prefix == "" {
			prefix = above
		}
		return prefix, prefix != ""
	}, func(module, _ string) string {
		if !slices.Contains(used, module) {
			used = append(used, module)
		}
		return module + ":"
	})
	if !ok {
		return s, nil
	}
	return text, used
}

// convertPath rewrites the prefixes of an instance-identifier: module says which module a prefix
// ("" for none) is below another one, write how a module is written there.
func convertPath(
	s string,
	module func(prefix, above string) (string, bool),
	write func(module, above string) string,
) (string, bool) {
	if _, err := ParsePath(s); err != nil {
		return s, false
	}
	var b strings.Builder
	above := ""
	p := pathParser{s: s}
	for p.pos < len(s) {
		c := s[p.pos]
		b.WriteByte(c)
		p.pos++
		if c == '\'' || c == '"' { // a quoted value: as it is
			from := p.pos
			p.pos--
			p.readQuoted()
			b.WriteString(s[from:p.pos])
			continue
		}
		if c != '/' && c != '[' {
			continue
		}
		p.skipSpaces()
		prefix, name := p.readQName()
		if name == "" {
			continue // a position, or the value of a leaf-list
		}
		m, ok := module(prefix, above)
		if !ok {
			return s, false
		}
		b.WriteString(write(m, above) + name)
		if c == '/' {
			above = m
		}
	}
	return b.String(), true
}
