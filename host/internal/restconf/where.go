package restconf

import (
	"encoding/json"
	"strconv"
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// where is a filter: the part of XPath 1.0 that compares, joins with and, or and not(), knows
// contains() and starts-with(), paths of children and predicates. It reads no variables and no
// other axes. Prefixes are names of modules and may be left out.
type where struct {
	op    string // and or not = != < <= > >= contains starts-with path literal number
	args  []*where
	text  string  // of a literal
	num   float64 // of a number
	steps []whereStep
	abs   bool
}

const (
	maxWhere      = 4096 // characters
	maxWhereDepth = 32
)

type whereStep struct {
	name       string // "*" for any, "." for the node itself
	predicates []*where
}

func parseWhere(s string) (*where, error) {
	p := whereParser{s: s}
	e := p.or(0)
	p.blanks()
	if e == nil || p.pos < len(s) || len(s) > maxWhere {
		return nil, fault.New(fault.Invalid, "the filter %.100q cannot be read at character %d: supported are paths of children, = != < <= > >=, and, or, not(), contains() and starts-with()", s, p.pos+1)
	}
	return e, nil
}

type whereParser struct {
	s   string
	pos int
}

func (p *whereParser) blanks() {
	for p.pos < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *whereParser) take(text string) bool {
	p.blanks()
	if !strings.HasPrefix(p.s[p.pos:], text) {
		return false
	}
	p.pos += len(text)
	return true
}

// word takes a name that is an operator here.
func (p *whereParser) word(w string) bool {
	at := p.pos
	if p.take(w) && (p.pos == len(p.s) || !nameChar(p.s[p.pos])) {
		return true
	}
	p.pos = at
	return false
}

func nameChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':'
}

func (p *whereParser) or(depth int) *where {
	return p.joined("or", depth, func() *where { return p.joined("and", depth, func() *where { return p.comparison(depth + 1) }) })
}

func (p *whereParser) joined(op string, depth int, part func() *where) *where {
	if depth > maxWhereDepth {
		return nil
	}
	e := part()
	for e != nil && p.word(op) {
		other := part()
		if other == nil {
			return nil
		}
		e = &where{op: op, args: []*where{e, other}}
	}
	return e
}

func (p *whereParser) comparison(depth int) *where {
	e := p.operand(depth)
	if e == nil {
		return nil
	}
	for _, op := range [...]string{"!=", "<=", ">=", "=", "<", ">"} {
		if p.take(op) {
			other := p.operand(depth)
			if other == nil {
				return nil
			}
			return &where{op: op, args: []*where{e, other}}
		}
	}
	return e
}

func (p *whereParser) operand(depth int) *where {
	p.blanks()
	if p.pos >= len(p.s) {
		return nil
	}
	for name, args := range map[string]int{"not": 1, "contains": 2, "starts-with": 2} {
		at := p.pos
		if p.word(name) && p.take("(") {
			e := &where{op: name}
			for i := range args {
				a := p.or(depth + 1)
				if a == nil || i < args-1 && !p.take(",") {
					return nil
				}
				e.args = append(e.args, a)
			}
			if !p.take(")") {
				return nil
			}
			return e
		}
		p.pos = at
	}
	c := p.s[p.pos]
	switch {
	case c == '(':
		p.pos++
		e := p.or(depth + 1)
		if e == nil || !p.take(")") {
			return nil
		}
		return e
	case c == '\'' || c == '"':
		end := strings.IndexByte(p.s[p.pos+1:], c)
		if end < 0 {
			return nil
		}
		e := &where{op: "literal", text: p.s[p.pos+1 : p.pos+1+end]}
		p.pos += end + 2
		return e
	case c >= '0' && c <= '9' || c == '-':
		end := p.pos + 1
		for end < len(p.s) && (p.s[end] >= '0' && p.s[end] <= '9' || p.s[end] == '.') {
			end++
		}
		n, err := strconv.ParseFloat(p.s[p.pos:end], 64)
		if err != nil {
			return nil
		}
		e := &where{op: "number", num: n, text: p.s[p.pos:end]}
		p.pos = end
		return e
	}
	return p.path(depth)
}

func (p *whereParser) path(depth int) *where {
	e := &where{op: "path", abs: p.take("/")}
	for {
		s := whereStep{}
		if p.take("*") {
			s.name = "*"
		} else {
			p.blanks()
			from := p.pos
			for p.pos < len(p.s) && nameChar(p.s[p.pos]) {
				p.pos++
			}
			if s.name = p.s[from:p.pos]; s.name == "" {
				return nil
			}
		}
		for p.take("[") {
			pr := p.or(depth + 1)
			if pr == nil || !p.take("]") {
				return nil
			}
			s.predicates = append(s.predicates, pr)
		}
		e.steps = append(e.steps, s)
		if !p.take("/") {
			return e
		}
	}
}

// event reports whether a notification passes.
func (e *where) event(n *Event, sets []*yang.Set) bool {
	if d, s := n.decode(sets); d != nil {
		top := yang.NewData(s.Root, false)
		top.Add(d)
		return e.holds(top, top)
	}
	text, err := json.Marshal(map[string]json.RawMessage{n.Name: n.Data})
	if err != nil {
		return false
	}
	d, err := yang.DecodeAny(text)
	return err == nil && e.holds(d, d)
}

// holds reports whether an instance passes. top is what absolute paths begin at.
func (e *where) holds(d, top *yang.Data) bool {
	switch e.op {
	case "and":
		return e.args[0].holds(d, top) && e.args[1].holds(d, top)
	case "or":
		return e.args[0].holds(d, top) || e.args[1].holds(d, top)
	case "not":
		return !e.args[0].holds(d, top)
	case "literal":
		return e.text != ""
	case "number":
		return e.num != 0
	case "path":
		return len(e.nodes(d, top)) > 0
	}
	for _, a := range e.args[0].values(d, top) {
		for _, b := range e.args[1].values(d, top) {
			if compare(e.op, a, b) {
				return true
			}
		}
	}
	return false
}

func (e *where) values(d, top *yang.Data) []string {
	switch e.op {
	case "literal", "number":
		return []string{e.text}
	case "path":
		var out []string
		for _, n := range e.nodes(d, top) {
			out = append(out, n.Text())
		}
		return out
	}
	return []string{strconv.FormatBool(e.holds(d, top))}
}

func compare(op, a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	numbers := err1 == nil && err2 == nil
	switch op {
	case "=":
		return a == b || numbers && x == y
	case "!=":
		return a != b && !(numbers && x == y)
	case "<":
		return numbers && x < y
	case "<=":
		return numbers && x <= y
	case ">":
		return numbers && x > y
	case ">=":
		return numbers && x >= y
	case "contains":
		return strings.Contains(a, b)
	case "starts-with":
		return strings.HasPrefix(a, b)
	}
	return false
}

// nodes are the instances that a path leads to.
func (e *where) nodes(d, top *yang.Data) []*yang.Data {
	at := []*yang.Data{d}
	if e.abs {
		at[0] = top
	}
	for _, s := range e.steps {
		var next []*yang.Data
		for _, c := range at {
			if s.name == "." {
				next = append(next, c)
				continue
			}
			for m := range c.All() {
				if !s.matches(m) {
					continue
				}
				if !m.IsArray() {
					next = append(next, m)
					continue
				}
				for x := range m.All() {
					next = append(next, x)
				}
			}
		}
		at = nil
		for _, c := range next {
			ok := true
			for _, pr := range s.predicates {
				ok = ok && pr.holds(c, top)
			}
			if ok {
				at = append(at, c)
			}
		}
	}
	return at
}

func (s whereStep) matches(d *yang.Data) bool {
	if s.name == "*" || d.Name() == s.name {
		return true
	}
	_, bare, ok := strings.Cut(d.Name(), ":")
	_, want, qualified := strings.Cut(s.name, ":")
	if d.Node != nil {
		return d.Node.Name == s.name || d.Node.QName() == s.name
	}
	return ok && bare == s.name || qualified && want == d.Name()
}
