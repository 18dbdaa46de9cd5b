// Package secini reads etc/sec.ini: the sections [main], [users], [roles] and
// [urls] in the grammar that the security framework's users know.
//
// It only reads: every fault is reported with file, line and remedy. What the
// objects of [main] are is decided by the rooms that use them (authn for
// realms); what the filters of [urls] do is package rules.
package secini

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

var sections = []string{"main", "users", "roles", "urls"}

// Parse reads a file; name is used in messages. Every fault is reported, joined, each an *Error; the File then has the
// lines that could be read, so that their faults are found, too.
func Parse(name string, data []byte) (*File, error) {
	p := parser{file: &File{Name: name}, seen: map[string]int{}}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if !utf8.ValidString(text) {
		return nil, p.file.Errorf(1, "the file is not UTF-8; save it as UTF-8")
	}
	for _, l := range logicalLines(text) {
		if err := p.parseLine(l); err != nil {
			p.errs = append(p.errs, err)
		}
	}
	p.errs = append(p.errs, p.file.checkRefs()...)
	return p.file, errors.Join(p.errs...)
}

type logicalLine struct {
	text string
	at   int // number of its first physical line
}

// logicalLines drops blank lines and comments, also those between continued lines, and joins lines that end in a
// backslash, which is all that is removed.
func logicalLines(text string) []logicalLine {
	var out []logicalLine
	joining := false
	for i, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' || l[0] == ';' {
			continue
		}
		more := isContinuedLine(l)
		if more {
			l = l[:len(l)-1]
		}
		if joining {
			out[len(out)-1].text += l
		} else {
			out = append(out, logicalLine{l, i + 1})
		}
		joining = more
	}
	for i := range out {
		out[i].text = strings.TrimSpace(out[i].text)
	}
	return out
}

// isContinuedLine reports whether the line ends in a backslash that is not itself escaped.
func isContinuedLine(l string) bool {
	n := len(l) - len(strings.TrimRight(l, `\`))
	return n%2 == 1
}

type parser struct {
	file    *File
	section string
	bad     bool           // inside a section whose name is unknown, already reported
	seen    map[string]int // section and key -> line
	errs    []error
}

func (p *parser) parseLine(l logicalLine) error {
	if strings.HasPrefix(l.text, "[") && strings.HasSuffix(l.text, "]") {
		name := strings.TrimSpace(l.text[1 : len(l.text)-1])
		p.section, p.bad = name, !slices.Contains(sections, name)
		if p.bad {
			return p.file.Unknown(l.at, "section", name, sections)
		}
		return nil
	}
	if p.bad {
		return nil
	}
	if p.section == "" {
		return p.file.Errorf(l.at, "a line before the first section; put it under [main] or [urls]")
	}
	key, value, ok := p.splitKeyValue(l.text)
	if !ok {
		return p.file.Errorf(l.at, "no equals sign; write `name = value`")
	}
	if key == "" {
		return p.file.Errorf(l.at, "no name before the equals sign")
	}
	id := p.section + "\x00" + key
	if first, dup := p.seen[id]; dup {
		return p.file.Errorf(l.at, "%q is already set at line %d; remove one of them", key, first)
	}
	p.seen[id] = l.at
	return p.parseEntry(key, Value{Raw: value, Line: l.at})
}

// splitKeyValue cuts a line where the name ends: at an equals sign, a colon or a blank that no backslash is before. A url
// pattern may hold all of them, so that [urls] is cut elsewhere.
func (p *parser) splitKeyValue(text string) (key, value string, ok bool) {
	at := separatorIndex(text)
	if p.section == "urls" {
		at = urlSeparator(text)
	}
	if at < 0 {
		return "", "", false
	}
	value = strings.TrimLeft(text[at:], "=: \t")
	if p.section == "urls" {
		value = strings.TrimSpace(text[at+1:])
	}
	return unescapeKey(strings.TrimSpace(text[:at])), value, true
}

// separatorIndex is where the name of a line ends, as Shiro reads it.
func separatorIndex(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '=', ':', ' ', '\t':
			return i
		}
	}
	return -1
}

// urlSeparator is where the pattern of a rule ends: at the last equals sign outside brackets, which list keys have,
// too; without one at a colon that a blank is before or after; without that at the first blank.
func urlSeparator(text string) int {
	equals := -1
	colon := -1
	blank := -1
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth > 0:
		case c == '=':
			equals = i
		case c == ':' && i > 0 && (isBlank(text[i-1]) || i+1 < len(text) && isBlank(text[i+1])):
			colon = i
		case isBlank(c) && blank < 0:
			blank = i
		}
	}
	switch {
	case equals >= 0:
		return equals
	case colon >= 0:
		return colon
	}
	return blank
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func unescapeKey(s string) string {
	return strings.NewReplacer(`\=`, "=", `\:`, ":", `\ `, " ", `\\`, `\`).Replace(s)
}

func (p *parser) parseEntry(key string, v Value) error {
	switch p.section {
	case "main":
		return p.parseObject(key, v)
	case "users":
		p.file.Users = append(p.file.Users, Entry{key, v})
	case "roles":
		p.file.Roles = append(p.file.Roles, Entry{key, v})
	case "urls":
		filters, err := p.file.parseFilters(v)
		if err != nil {
			return err
		}
		p.file.URLs = append(p.file.URLs, URL{
			Pattern: key,
			Filters: filters,
			Line:    v.Line,
		})
	}
	return nil
}

func (p *parser) parseObject(key string, v Value) error {
	name, prop, dotted := strings.Cut(key, ".")
	o := p.file.Object(name)
	if o == nil {
		o = &Object{Name: name, Line: v.Line}
		p.file.Objects = append(p.file.Objects, o)
	}
	if dotted {
		if name == "" || prop == "" {
			return p.file.Errorf(v.Line, "%q is not a name; write `object.property = value`", key)
		}
		o.Props = append(o.Props, Prop{prop, v})
		return nil
	}
	class := v.Text()
	if class == "" {
		return p.file.Errorf(v.Line, "%q has no class; write `%s = <class>`", name, name)
	}
	o.Class, o.Line = class, v.Line
	return nil
}

// parseFilters splits `a, b[x, y], "c"` into the filters of a rule.
func (f *File) parseFilters(v Value) ([]Filter, error) {
	var out []Filter
	rest := v.Raw
	for {
		rest = strings.TrimSpace(rest)
		end := strings.IndexAny(rest, ",[")
		var fl Filter
		switch {
		case end < 0:
			fl.Name, rest = rest, ""
		case rest[end] == ',':
			fl.Name, rest = rest[:end], rest[end:]
		default:
			stop := closingBracketIndex(rest[end:])
			if stop < 0 {
				return nil, f.Errorf(v.Line, "a bracket is not closed in %q", rest)
			}
			args, err := f.List(Value{strings.TrimSpace(rest[end+1 : end+stop]), v.Line})
			if err != nil {
				return nil, err
			}
			fl.Name, fl.Args, rest = rest[:end], args, strings.TrimSpace(rest[end+stop+1:])
		}
		fl.Name = strings.TrimSpace(fl.Name)
		if fl.Name == "" {
			return nil, f.Errorf(
				v.Line,
				"a filter name is missing; write `pattern = filter, filter[args]`",
			)
		}
		out = append(out, fl)
		if rest == "" {
			return out, nil
		}
		if rest[0] != ',' {
			return nil, f.Errorf(v.Line, "a comma is missing before %q", rest)
		}
		rest = rest[1:]
	}
}

// closingBracketIndex returns the index of the bracket that closes the one s begins with.
func closingBracketIndex(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			quoted = !quoted
		case ']':
			if !quoted {
				return i
			}
		}
	}
	return -1
}
