package yang

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

// The bounds of one JSON document; its size in bytes is bounded by whoever read it.
const (
	maxJSONDepth  = 64
	maxJSONValues = 1_000_000
)

// parser reads one JSON document (RFC 8259). With lenient it takes what clients
// of older controllers send: unquoted names and words, single quotes and a comma
// before a closing bracket.
type parser struct {
	s       string
	pos     int
	a       *arena
	lenient bool
	depth   int
	values  int
	err     *fault.Error
}

// parseJSON reads text, strictly first. The error of the strict reading is the
// one that is reported, for it names the place where the text stops being JSON.
func parseJSON(text string, lenient bool, a *arena) (*Data, *fault.Error) {
	if !utf8.ValidString(text) {
		return nil, fault.New(fault.Malformed, "the text is not UTF-8")
	}
	if r := nonCharacter(text); r != 0 {
		return nil, fault.New(
			fault.Malformed,
			"the text has the character U+%04X, which YANG does not allow",
			r,
		)
	}
	p := parser{s: text, a: a}
	d := p.readDocument()
	if p.err == nil || !lenient || p.err.Kind != fault.Malformed {
		return d, p.err
	}
	first := p.err
	p = parser{s: text, a: a, lenient: true}
	if d = p.readDocument(); p.err != nil {
		if p.err.Kind != fault.Malformed {
			first = p.err
		}
		return nil, first
	}
	return d, nil
}

// nonCharacter returns a code point of text that no YANG string has (RFC 7950 section 9.4), 0 if there is none. Those
// below U+0020 the parsers find themselves.
func nonCharacter(text string) rune {
	for _, lead := range [...]byte{0xef, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4} {
		for rest := text; ; {
			i := strings.IndexByte(rest, lead)
			if i < 0 {
				break
			}
			r, size := utf8.DecodeRuneInString(rest[i:])
			if isNonCharacter(r) {
				return r
			}
			rest = rest[i+size:]
		}
	}
	return 0
}

func isNonCharacter(r rune) bool {
	return r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

func (p *parser) readDocument() *Data {
	d := p.readValue()
	p.skipBlanks()
	if p.err == nil && p.pos < len(p.s) {
		p.recordFault("there is text after the end of the document")
	}
	if p.err != nil {
		return nil
	}
	return d
}

// recordFault records the first fault with its line and column.
func (p *parser) recordFault(format string, args ...any) {
	if p.err != nil {
		return
	}
	pos := min(p.pos, len(p.s))
	line := 1 + strings.Count(p.s[:pos], "\n")
	column := 1 + utf8.RuneCountInString(p.s[1+strings.LastIndexByte(p.s[:pos], '\n'):pos])
	p.err = fault.New(
		fault.Malformed,
		"line %d, column %d: %s",
		line,
		column,
		fmt.Sprintf(format, args...),
	)
}

func (p *parser) skipBlanks() {
	for p.pos < len(p.s) {
		switch p.s[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peekByte skips blanks and returns the next byte, 0 at the end.
func (p *parser) peekByte() byte {
	p.skipBlanks()
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

func (p *parser) readValue() *Data {
	if p.values++; p.values > maxJSONValues {
		if p.err == nil {
			p.err = fault.New(fault.TooBig, "the document has more than %d values", maxJSONValues)
		}
		return nil
	}
	d := p.a.newData()
	switch c := p.peekByte(); {
	case c == '{':
		d.kind = jObject
		p.readMembers(d)
	case c == '[':
		d.kind = jArray
		p.readEntries(d)
	case c == '"' || c == '\'' && p.lenient:
		d.kind = jString
		d.text = p.readString(c)
	case c == '-' || c >= '0' && c <= '9':
		d.kind = jNumber
		p.readNumber(d)
	case c == 0:
		p.recordFault("the text ends where a value is expected")
	default:
		p.readWord(d)
	}
	return d
}

func (p *parser) enterValue() bool {
	p.pos++
	if p.depth++; p.depth > maxJSONDepth {
		p.recordFault("values nest more than %d levels deep", maxJSONDepth)
	}
	return p.err == nil
}

func (p *parser) readMembers(d *Data) {
	if !p.enterValue() {
		return
	}
	defer func() { p.depth-- }()
	if p.peekByte() == '}' {
		p.pos++
		return
	}
	for p.err == nil {
		name := p.memberName()
		if p.err == nil && p.peekByte() != ':' {
			p.recordFault("a colon is expected after the name %.40q", name)
		}
		p.pos++
		if p.err != nil {
			return
		}
		c := p.readValue()
		if p.err != nil {
			return
		}
		c.name = name
		d.addChild(c)
		if p.readSeparator('}') {
			return
		}
	}
}

func (p *parser) readEntries(d *Data) {
	if !p.enterValue() {
		return
	}
	defer func() { p.depth-- }()
	if p.peekByte() == ']' {
		p.pos++
		return
	}
	for p.err == nil {
		c := p.readValue()
		if p.err != nil {
			return
		}
		d.addChild(c)
		if p.readSeparator(']') {
			return
		}
	}
}

// readSeparator reads a comma or the closing bracket, and reports the latter.
func (p *parser) readSeparator(bracket byte) bool {
	switch p.peekByte() {
	case bracket:
		p.pos++
		return true
	case ',':
		p.pos++
		if p.peekByte() == bracket && p.lenient {
			p.pos++
			return true
		}
	case 0:
		p.recordFault("the text ends before a closing %c", bracket)
	default:
		p.recordFault("a comma or %c is expected here", bracket)
	}
	return false
}

// readNumber reads a JSON number; in a lenient reading a word may begin with digits.
func (p *parser) readNumber(d *Data) {
	n := numberLength(p.s[p.pos:])
	end := p.pos + n
	if p.lenient && end < len(p.s) && isWordByte(p.s[end]) {
		p.readWord(d)
		return
	}
	if n == 0 {
		p.recordFault("this is not a number")
		return
	}
	d.text = p.s[p.pos:end]
	p.pos = end
}

// numberLength returns the length of the JSON number s begins with, 0 if none.
func numberLength(s string) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	start := i
	if i = digits(i); i == start || s[start] == '0' && i > start+1 {
		return 0
	}
	if i < len(s) && s[i] == '.' {
		j := digits(i + 1)
		if j == i+1 {
			return 0
		}
		i = j
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		k := digits(j)
		if k == j {
			return 0
		}
		i = k
	}
	return i
}
