package yang

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

// Path returns the instance-identifier of d as RFC 7951 section 6.11 writes it:
// module names at the top and where the module changes, list entries by their
// keys, or by position where a key is absent.
func (d *Data) Path() string {
	var steps []*Data
	for at := d; at != nil; at = at.parent {
		steps = append(steps, at)
	}
	var b strings.Builder
	module := ""
	for i := len(steps) - 1; i >= 0; i-- {
		module = steps[i].writeStep(&b, module)
	}
	return b.String()
}

// writeStep writes one step and returns the module that names below it belong to.
func (d *Data) writeStep(b *strings.Builder, module string) string {
	if d.Node != nil && d.Node.Kind == Root {
		return module
	}
	if d.parent != nil && d.parent.kind == jArray {
		d.writePredicate(b)
		return module
	}
	b.WriteByte('/')
	if d.Node == nil {
		b.WriteString(shortName(d.name))
		return module
	}
	if d.Node.Module != module {
		b.WriteString(d.Node.Module)
		b.WriteByte(':')
	}
	b.WriteString(d.Node.Name)
	return d.Node.Module
}

// writePredicate writes which entry of its array d is.
func (d *Data) writePredicate(b *strings.Builder) {
	var keys []*Data
	shown := d.Node != nil && !d.Node.Secret() // else the position: keys and values are secret
	if shown && d.Node.Kind == List && d.kind == jObject {
		for _, k := range d.Node.Keys {
			if v := d.Get(k); v != nil && v.typ != nil {
				keys = append(keys, v)
			}
		}
		if len(keys) == len(d.Node.Keys) && len(keys) > 0 {
			for _, k := range keys {
				b.WriteString("[" + k.Node.Name + "=" + quotedKey(k.Text()) + "]")
			}
			return
		}
	}
	if shown && d.Node.Kind == LeafList && d.Node.Config && d.typ != nil {
		b.WriteString("[.=" + quotedKey(d.Text()) + "]")
		return
	}
	n := 1
	for c := d.parent.first; c != nil && c != d; c = c.next {
		n++
	}
	b.WriteString("[" + strconv.Itoa(n) + "]")
}

func quotedKey(s string) string {
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

// shortName bounds a name that a client made up.
func shortName(s string) string {
	if len(s) <= 64 {
		return s
	}
	cut := 64
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// stepName is the name of an absent child of a node.
func (n *Node) stepName(parent *Node) string {
	if parent != nil && parent.Module == n.Module {
		return n.Name
	}
	return n.QName()
}

// Step is one step of an instance-identifier.
type Step struct {
	Module, Name string            // Module is empty where the text leaves it out
	Keys         map[string]string // key leaf name → value; "." for a leaf-list value
	Position     int               // 1-based; 0 when there is no positional predicate
}

// ParsePath reads an instance-identifier (RFC 7951 section 6.11), as Path writes
// them. The error is of Kind Invalid.
func ParsePath(s string) ([]Step, error) {
	p := pathParser{s: s}
	if s == "" || s[0] != '/' {
		return nil, fault.New(fault.Invalid, "an instance-identifier begins with a slash: %.60q", s)
	}
	var steps []Step
	for p.pos < len(s) {
		if !p.takeByte('/') {
			return nil, p.syntaxError()
		}
		step, ok := p.readStep()
		if !ok || len(steps) > maxNesting {
			return nil, p.syntaxError()
		}
		steps = append(steps, step)
	}
	return steps, nil
}

type pathParser struct {
	s   string
	pos int
}

func (p *pathParser) syntaxError() error {
	return fault.New(
		fault.Invalid,
		"%.60q is not an instance-identifier: wrong at character %d",
		p.s,
		p.pos+1,
	)
}

func (p *pathParser) takeByte(c byte) bool {
	if p.pos < len(p.s) && p.s[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *pathParser) readName() string {
	start := p.pos
	for p.pos < len(p.s) && strings.IndexByte("/[]=:'\" \t\r\n", p.s[p.pos]) < 0 {
		p.pos++
	}
	if name := p.s[start:p.pos]; isIdentifier(name) {
		return name
	}
	p.pos = start
	return ""
}

func (p *pathParser) readQName() (module, name string) {
	name = p.readName()
	if name != "" && p.takeByte(':') {
		module, name = name, p.readName()
	}
	return module, name
}

func (p *pathParser) readStep() (Step, bool) {
	var s Step
	if s.Module, s.Name = p.readQName(); s.Name == "" {
		return s, false
	}
	for p.takeByte('[') {
		if !p.readPredicate(&s) {
			return s, false
		}
	}
	return s, true
}

func (p *pathParser) readPredicate(s *Step) bool {
	p.skipSpaces()
	if p.pos < len(p.s) && p.s[p.pos] >= '1' && p.s[p.pos] <= '9' {
		start := p.pos
		for p.pos < len(p.s) && p.s[p.pos] >= '0' && p.s[p.pos] <= '9' {
			p.pos++
		}
		n, err := strconv.Atoi(p.s[start:p.pos])
		if err != nil || s.Position != 0 || s.Keys != nil {
			return false
		}
		s.Position = n
		p.skipSpaces()
		return p.takeByte(']')
	}
	name := "."
	if !p.takeByte('.') {
		_, name = p.readQName()
	}
	p.skipSpaces()
	if name == "" || !p.takeByte('=') || s.Position != 0 {
		return false
	}
	p.skipSpaces()
	value, ok := p.readQuoted()
	if _, twice := s.Keys[name]; !ok || twice {
		return false
	}
	if s.Keys == nil {
		s.Keys = map[string]string{}
	}
	s.Keys[name] = value
	p.skipSpaces()
	return p.takeByte(']')
}

func (p *pathParser) skipSpaces() {
	for p.pos < len(p.s) && (p.s[p.pos] == ' ' || p.s[p.pos] == '\t') {
		p.pos++
	}
}

// readQuoted reads a string in single quotes, or in double quotes with \\ and \".
func (p *pathParser) readQuoted() (string, bool) {
	if p.takeByte('\'') {
		end := strings.IndexByte(p.s[p.pos:], '\'')
		if end < 0 {
			return "", false
		}
		v := p.s[p.pos : p.pos+end]
		p.pos += end + 1
		return v, true
	}
	if !p.takeByte('"') {
		return "", false
	}
	var b strings.Builder
	for p.pos < len(p.s) {
		switch c := p.s[p.pos]; {
		case c == '"':
			p.pos++
			return b.String(), true
		case c == '\\' && p.pos+1 < len(p.s):
			p.pos++
			b.WriteByte(p.s[p.pos])
		default:
			b.WriteByte(c)
		}
		p.pos++
	}
	return "", false
}
