package yang

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// memberName reads the name of a member: a string, or in a lenient reading a
// word, which may carry a module's name as in {aaa:policies: 1}.
func (p *parser) memberName() string {
	c := p.peekByte()
	if c == '"' || c == '\'' && p.lenient {
		return p.readString(c)
	}
	if p.lenient {
		start := p.pos
		p.pos = p.identifierEnd(start)
		if p.pos > start && p.pos < len(p.s) && p.s[p.pos] == ':' {
			end := p.identifierEnd(p.pos + 1)
			rest := strings.TrimLeft(p.s[end:], " \t\r\n")
			if end > p.pos+1 && strings.HasPrefix(rest, ":") {
				p.pos = end
			}
		}
		if p.pos > start {
			return p.s[start:p.pos]
		}
	}
	p.recordFault("a name in quotes is expected here")
	return ""
}

// identifierEnd returns the end of the identifier that begins at i.
func (p *parser) identifierEnd(i int) int {
	for i < len(p.s) && nameByte(p.s[i], 1) {
		i++
	}
	return i
}

// isWordByte reports whether c may stand in a word without quotes.
func isWordByte(c byte) bool {
	return nameByte(c, 1) || c >= utf8.RuneSelf || strings.IndexByte(":/+@%*", c) >= 0
}

// readWord reads true, false, null, or in a lenient reading a string without quotes.
func (p *parser) readWord(d *Data) {
	end := p.pos
	for end < len(p.s) && isWordByte(p.s[end]) {
		end++
	}
	w := p.s[p.pos:end]
	switch {
	case w == "true":
		d.kind = jTrue
	case w == "false":
		d.kind = jFalse
	case w == "null":
		d.kind = jNull
	case p.lenient && w != "" && almostLiteral(w):
		p.recordFault("%q is neither true, false nor null: write a string in quotes", w)
		return
	case p.lenient && w != "":
		d.kind, d.text = jString, w
	default:
		p.recordFault("a value is expected here")
		return
	}
	p.pos = end
}

// almostLiteral reports a word that may be meant as true, false or null: taking it for a string would invent data.
func almostLiteral(w string) bool {
	low := strings.ToLower(w)
	for _, literal := range [...]string{"true", "false", "null", "undefined", "none", "nan"} {
		if len(low) > 1 && strings.HasPrefix(literal, low) {
			return true
		}
	}
	return false
}

// readString reads a string that ends with the quote it begins with.
func (p *parser) readString(quote byte) string {
	p.pos++
	start := p.pos
	for p.pos < len(p.s) {
		switch c := p.s[p.pos]; {
		case c == quote:
			p.pos++
			return p.s[start : p.pos-1]
		case c == '\\':
			return p.readEscapedString(start, quote)
		case c < ' ':
			p.recordFault("a string contains a control character")
			return ""
		}
		p.pos++
	}
	p.recordFault("the text ends inside a string")
	return ""
}

// readEscapedString reads on in a string whose first escape is at pos.
func (p *parser) readEscapedString(start int, quote byte) string {
	var b strings.Builder
	b.WriteString(p.s[start:p.pos])
	for p.pos < len(p.s) && p.err == nil {
		switch c := p.s[p.pos]; {
		case c == quote:
			p.pos++
			return b.String()
		case c == '\\':
			p.readEscape(&b)
		case c < ' ':
			p.recordFault("a string contains a control character")
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	p.recordFault("the text ends inside a string")
	return ""
}

func (p *parser) readEscape(b *strings.Builder) {
	p.pos++
	if p.pos >= len(p.s) {
		return
	}
	c := p.s[p.pos]
	p.pos++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		if c == 'b' || c == 'f' {
			p.recordFault("the string has a control character, which YANG does not allow")
			return
		}
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		return
	}
	if c == '\'' && p.lenient {
		b.WriteByte(c)
		return
	}
	if c != 'u' {
		p.recordFault("the string has the unknown escape \\%c", c)
		return
	}
	r := p.readHex4()
	if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(p.s[min(p.pos, len(p.s)):], `\u`) {
		p.pos += 2
		low := p.readHex4()
		if low < 0xdc00 || low > 0xdfff {
			p.recordFault("the string has half a surrogate pair")
			return
		}
		r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
	}
	switch {
	case r >= 0xd800 && r <= 0xdfff:
		p.recordFault("the string has half a surrogate pair")
	case r < ' ' && r != '\t' && r != '\n' && r != '\r', isNonCharacter(r):
		p.recordFault("the string has the character U+%04X, which YANG does not allow", r)
	default:
		b.WriteRune(r)
	}
}

func (p *parser) readHex4() rune {
	if p.pos+4 > len(p.s) {
		p.recordFault("the text ends inside an escape")
		return 0
	}
	r, err := strconv.ParseUint(p.s[p.pos:p.pos+4], 16, 16)
	if err != nil {
		p.recordFault("four hexadecimal digits are expected after \\u")
		return 0
	}
	p.pos += 4
	return rune(r)
}
