package yang

import (
	"fmt"
	"strconv"
	"strings"
)

// XPath is an expression of XPath 1.0 with the functions of YANG (RFC 7950 section 10), as must, when, leafrefs, filters of
// streams and pages of lists have it. It is immutable.
type XPath struct {
	text     string
	root     xnode
	absolute bool // it looks at the top of the tree, or where a reference leads
}

// String returns the expression.
func (x *XPath) String() string { return x.text }

// CompileXPath reads an expression of a request: its prefixes are names of modules, and a name without one is that of any
// module.
func CompileXPath(text string) (*XPath, error) {
	return compileXPath(text, func(prefix string) (string, bool) { return prefix, true })
}

// maxXPath bounds the length of an expression.
const maxXPath = 16 << 10

func compileXPath(text string, module func(prefix string) (string, bool)) (*XPath, error) {
	if len(text) > maxXPath {
		return nil, fmt.Errorf("an expression may have %d bytes, this has %d", maxXPath, len(text))
	}
	p := &xparser{text: text, module: module}
	p.splitTokens()
	if p.err != nil {
		return nil, p.err
	}
	root := p.parseBinary(0)
	if p.err == nil && p.pos < len(p.tokens) {
		p.recordFault(fmt.Sprintf("unexpected %q", p.tokens[p.pos].text))
	}
	if p.err != nil {
		return nil, p.err
	}
	return &XPath{text, root, p.absolute}, nil
}

// xnode is a node of an expression.
type xnode struct {
	kind   xkind
	op     string  // of an operator; the name of a function; the axis of a step
	text   string  // of a literal
	number float64 // of a number
	module string  // of a step with a prefix
	name   string  // of a step; * for any
	call   func(e *xeval, n *xnode, c xcontext) xvalue
	args   []xnode // operands, arguments, the steps of a path, the predicates of a step or filter
}

type xkind uint8

const (
	xOperator xkind = iota + 1
	xNegation
	xLiteral
	xNumber
	xFunction
	xPath   // args are steps; op "/" for an absolute path
	xFilter // args[0] with the predicates args[1:]
	xJoin   // args[0], a filter, then the path args[1]
	xStep
)

type xtoken struct {
	kind byte // 'n' name, 'l' literal, 'd' number, 'o' operator or punctuation
	text string
	at   int
}

type xparser struct {
	text   string
	module func(string) (string, bool)
	tokens []xtoken
	pos    int
	depth  int
	err    error

	absolute bool
}

func (p *xparser) recordFault(why string) {
	if p.err == nil {
		where := len(p.text)
		if p.pos < len(p.tokens) {
			where = p.tokens[p.pos].at
		}
		p.err = fmt.Errorf("%s at character %d", why, where+1)
	}
}

// splitTokens parts the text; a name after an operand is an operator (XPath 1.0 section 3.7).
func (p *xparser) splitTokens() {
	s := p.text
	for i := 0; i < len(s); {
		c := s[i]
		start := i
		kind := byte('o')
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == '"' || c == '\'':
			n := strings.IndexByte(s[i+1:], c)
			if n < 0 {
				p.err = fmt.Errorf("a string does not end at character %d", i+1)
				return
			}
			p.tokens = append(p.tokens, xtoken{'l', s[i+1 : i+1+n], i})
			i += n + 2
			continue
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
				i++
			}
			kind = 'd'
		case nameByte(c, 0) || c >= 0x80:
			for i < len(s) && (nameByte(s[i], 1) || s[i] >= 0x80) {
				i++
			}
			kind = 'n'
			word := s[start:i]
			if p.afterOperand() &&
				(word == "and" || word == "or" || word == "div" || word == "mod") {
				kind = 'o'
			} else if i+1 < len(s) && s[i] == ':' && s[i+1] != ':' {
				if i++; s[i] == '*' {
					i++
				} else {
					for i < len(s) && (nameByte(s[i], 1) || s[i] >= 0x80) {
						i++
					}
				}
			}
		default:
			i++
			if i < len(s) {
				switch s[start : i+1] {
				case "//", "..", "::", "!=", "<=", ">=":
					i++
				}
			}
			if strings.IndexByte("()[].@,/|+-=<>*$:!", c) < 0 ||
				c == '$' ||
				s[start:i] == "!" ||
				s[start:i] == ":" {
				p.err = fmt.Errorf("unexpected %q at character %d", s[start:i], start+1)
				return
			}
		}
		p.tokens = append(p.tokens, xtoken{kind, s[start:i], start})
	}
}

// afterOperand reports whether an operator is expected next.
func (p *xparser) afterOperand() bool {
	if len(p.tokens) == 0 {
		return false
	}
	t := p.tokens[len(p.tokens)-1]
	return t.kind != 'o' ||
		t.text == ")" ||
		t.text == "]" ||
		t.text == "." ||
		t.text == ".." ||
		t.text == "*" && p.starIsName(len(p.tokens)-1)
}

// starIsName reports whether the star at a place means any name, and is no product.
func (p *xparser) starIsName(i int) bool {
	if i == 0 {
		return true
	}
	t := p.tokens[i-1]
	return t.kind == 'o' && t.text != ")" && t.text != "]" && t.text != "." && t.text != ".."
}

func (p *xparser) isToken(text string) bool {
	return p.pos < len(p.tokens) && p.tokens[p.pos].kind == 'o' && p.tokens[p.pos].text == text
}

func (p *xparser) takeToken(text string) bool {
	if p.isToken(text) {
		p.pos++
		return true
	}
	return false
}

func (p *xparser) expectToken(text string) {
	if !p.takeToken(text) {
		p.recordFault(fmt.Sprintf("%q is expected", text))
	}
}

// precedence are the operators, the weakest first.
var precedence = [][]string{{"or"}, {"and"}, {"=", "!="}, {"<=", "<", ">=", ">"}, {"+", "-"}, {"*", "div", "mod"}}

func (p *xparser) parseBinary(level int) xnode {
	if level == len(precedence) {
		return p.parseUnary()
	}
	if p.depth++; p.depth > 40*maxNesting {
		p.recordFault("the expression nests too deep")
	}
	defer func() { p.depth-- }()
	left := p.parseBinary(level + 1)
next:
	for p.err == nil {
		for _, op := range precedence[level] {
			if p.takeToken(op) {
				left = xnode{
					kind: xOperator,
					op:   op,
					args: []xnode{left, p.parseBinary(level + 1)},
				}
				continue next
			}
		}
		break
	}
	return left
}

func (p *xparser) parseUnary() xnode {
	negative := 0
	for p.takeToken("-") {
		negative++
	}
	n := p.parseUnionExpr()
	if negative > 0 {
		for range 1 + (negative+1)%2 {
			n = xnode{kind: xNegation, args: []xnode{n}}
		}
	}
	return n
}

func (p *xparser) parseUnionExpr() xnode {
	left := p.parsePath()
	for p.err == nil && p.takeToken("|") {
		left = xnode{
			kind: xOperator,
			op:   "|",
			args: []xnode{left, p.parsePath()},
		}
	}
	return left
}

// xNodeTypes are names that with parentheses are no functions.
var xNodeTypes = map[string]bool{
	"node":                   true,
	"text":                   true,
	"comment":                true,
	"processing-instruction": true,
}

func (p *xparser) parsePath() xnode {
	if p.pos >= len(p.tokens) {
		p.recordFault("the expression ends where an operand is expected")
		return xnode{}
	}
	t := p.tokens[p.pos]
	call := t.kind == 'n' && !xNodeTypes[t.text] && p.pos+1 < len(p.tokens) && p.tokens[p.pos+1].text == "(" && p.tokens[p.pos+1].kind == 'o'
	if t.kind != 'l' && t.kind != 'd' && !call && !p.isToken("(") {
		return p.parseLocation()
	}
	n := p.parsePrimary(t, call)
	if p.isToken("[") {
		n = xnode{
			kind: xFilter,
			args: append([]xnode{n}, p.parsePredicates()...),
		}
	}
	if p.isToken("/") || p.isToken("//") {
		below := xnode{kind: xPath}
		p.parseSteps(&below)
		n = xnode{kind: xJoin, args: []xnode{n, below}}
	}
	return n
}

func (p *xparser) parsePrimary(t xtoken, call bool) xnode {
	p.pos++
	switch {
	case t.kind == 'l':
		return xnode{kind: xLiteral, text: t.text}
	case t.kind == 'd':
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.recordFault(fmt.Sprintf("%q is no number", t.text))
		}
		return xnode{kind: xNumber, number: v}
	case !call:
		n := p.parseBinary(0)
		p.expectToken(")")
		return n
	}
	p.pos++
	n := xnode{kind: xFunction, op: t.text}
	for p.err == nil && !p.takeToken(")") {
		if len(n.args) > 0 {
			p.expectToken(",")
		}
		n.args = append(n.args, p.parseBinary(0))
	}
	p.absolute = p.absolute || n.op == "deref"
	f, ok := xFunctions[n.op]
	n.call = f.call
	switch {
	case !ok:
		p.recordFault(fmt.Sprintf("there is no function %q", n.op))
	case len(n.args) < f.min || f.max >= 0 && len(n.args) > f.max:
		p.recordFault(fmt.Sprintf(
			"the function %s() does not have %d arguments",
			n.op,
			len(n.args),
		))
	}
	return n
}

func (p *xparser) parsePredicates() (out []xnode) {
	for p.err == nil && p.takeToken("[") {
		out = append(out, p.parseBinary(0))
		p.expectToken("]")
	}
	return out
}

func (p *xparser) parseLocation() xnode {
	n := xnode{kind: xPath}
	if p.isToken("/") || p.isToken("//") {
		n.op, p.absolute = "/", true
		if p.isToken("/") && !p.stepAt(p.pos+1) {
			p.pos++
			return n
		}
		p.parseSteps(&n)
		return n
	}
	n.args = append(n.args, p.parseStep())
	p.parseSteps(&n)
	return n
}

// stepAt reports whether a step begins at a token.
func (p *xparser) stepAt(i int) bool {
	if i >= len(p.tokens) {
		return false
	}
	t := p.tokens[i]
	return t.kind == 'n' ||
		t.kind == 'o' && (t.text == "." || t.text == ".." || t.text == "*" || t.text == "@")
}

// parseSteps reads /step and //step as long as there are some.
func (p *xparser) parseSteps(n *xnode) {
	for p.err == nil {
		switch {
		case p.takeToken("//"):
			n.args = append(n.args, xnode{
				kind: xStep,
				op:   "descendant-or-self",
				name: "node()",
			})
		case p.takeToken("/"):
		default:
			return
		}
		n.args = append(n.args, p.parseStep())
	}
}

var xAxes = map[string]bool{
	"ancestor":           true,
	"ancestor-or-self":   true,
	"attribute":          true,
	"child":              true,
	"descendant":         true,
	"descendant-or-self": true,
	"following":          true,
	"following-sibling":  true,
	"namespace":          true,
	"parent":             true,
	"preceding":          true,
	"preceding-sibling":  true,
	"self":               true,
}

func (p *xparser) parseStep() xnode {
	n := xnode{kind: xStep, op: "child"}
	switch {
	case p.takeToken("."):
		n.op, n.name = "self", "node()"
	case p.takeToken(".."):
		n.op, n.name = "parent", "node()"
	default:
		if p.takeToken("@") {
			n.op = "attribute"
		} else if p.pos+1 < len(p.tokens) && p.tokens[p.pos+1].text == "::" {
			if n.op = p.tokens[p.pos].text; !xAxes[n.op] {
				p.recordFault(fmt.Sprintf("there is no axis %q", n.op))
			}
			p.pos += 2
		}
		p.nodeTest(&n)
	}
	n.args = p.parsePredicates()
	return n
}

func (p *xparser) nodeTest(n *xnode) {
	if p.takeToken("*") {
		n.name = "*"
		return
	}
	if p.pos >= len(p.tokens) || p.tokens[p.pos].kind != 'n' {
		p.recordFault("a name is expected")
		return
	}
	word := p.tokens[p.pos].text
	p.pos++
	if xNodeTypes[word] && p.takeToken("(") {
		if p.pos < len(p.tokens) && p.tokens[p.pos].kind == 'l' {
			p.pos++
		}
		p.expectToken(")")
		n.name = word + "()"
		return
	}
	prefix, name := splitPrefix(word)
	if n.name = name; prefix != "" {
		module, ok := p.module(prefix)
		if !ok {
			p.pos--
			p.recordFault(fmt.Sprintf("no import has the prefix %q", prefix))
		}
		n.module = module
	}
}
