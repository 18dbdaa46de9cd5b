package yang

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// xmlScanner reads the tokens of an XML 1.0 document that is valid UTF-8. It knows what instance documents need:
// elements, attributes, text, CDATA, the five entities and references to characters. Comments and processing
// instructions are skipped, document types are refused. Names and texts share the memory of the document. What it
// accepts encoding/xml accepts too, with the same tokens (FuzzXMLScanner).
type xmlScanner struct {
	text  string
	pos   int
	open  []string // names of the elements that have not ended, as they are written
	attrs []xmlAttr
	empty bool // the element that has just begun ends at once
	fault string
}

// maxXMLAttributes are the attributes that an element may have: each is compared with those before it.
const maxXMLAttributes = 256

type xmlKind uint8

const (
	xmlEnd xmlKind = iota // of the document, or after a fault
	xmlStartElement
	xmlEndElement
	xmlText
)

// xmlToken is one token. Its attributes are valid until the next one.
type xmlToken struct {
	kind  xmlKind
	name  prefixedName
	attrs []xmlAttr
	text  string
}

// prefixedName is a name with its prefix, which the reader replaces by the namespace.
type prefixedName struct{ space, local string }

type xmlAttr struct {
	name  prefixedName
	value string
}

// next returns the next token.
func (s *xmlScanner) next() xmlToken {
	if s.empty {
		s.empty = false
		return s.endElement()
	}
	for s.fault == "" && s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch {
		case rest[0] != '<':
			return s.scanText()
		case strings.HasPrefix(rest, "</"):
			return s.scanEndTag()
		case strings.HasPrefix(rest, "<?"):
			s.skipInstruction()
		case strings.HasPrefix(rest, "<!--"):
			s.skipComment()
		case strings.HasPrefix(rest, "<![CDATA["):
			return s.scanCDATA()
		case strings.HasPrefix(rest, "<!"):
			s.fault = "document types and entities are not accepted"
		default:
			return s.scanStartTag()
		}
	}
	if s.fault == "" && len(s.open) > 0 {
		s.fault = "the text ends inside an element"
	}
	return xmlToken{}
}

// place is the line and the column of the position, from 1.
func (s *xmlScanner) place() (line, column int) {
	before := s.text[:s.pos]
	return 1 + strings.Count(before, "\n"), s.pos - strings.LastIndexByte(before, '\n')
}

// fail notes what is wrong at the position.
func (s *xmlScanner) fail(fault string) xmlToken {
	if s.fault == "" {
		s.fault = fault
	}
	return xmlToken{}
}

// endElement ends the innermost element.
func (s *xmlScanner) endElement() xmlToken {
	s.open = s.open[:len(s.open)-1]
	return xmlToken{kind: xmlEndElement}
}

// scanStartTag reads the tag that begins an element.
func (s *xmlScanner) scanStartTag() xmlToken {
	s.pos++
	name := s.scanName()
	if name == "" {
		return s.fail("the name of an element is expected after <")
	}
	s.attrs = s.attrs[:0]
	for s.fault == "" {
		blank := s.skipBlanks()
		switch rest := s.text[s.pos:]; {
		case strings.HasPrefix(rest, ">"):
			s.pos++
			return s.startElement(name)
		case strings.HasPrefix(rest, "/>"):
			s.pos += 2
			s.empty = true
			return s.startElement(name)
		case rest == "":
			s.fail("the text ends inside a tag")
		case !blank:
			s.fail("a blank is expected before an attribute")
		default:
			s.scanAttribute()
		}
	}
	return xmlToken{}
}

func (s *xmlScanner) startElement(name string) xmlToken {
	s.open = append(s.open, name)
	return xmlToken{
		kind:  xmlStartElement,
		name:  splitXMLName(name),
		attrs: s.attrs,
	}
}

// splitXMLName takes a name apart at its colon.
func splitXMLName(name string) prefixedName {
	prefix, local, both := strings.Cut(name, ":")
	if !both || prefix == "" || local == "" {
		return prefixedName{local: name}
	}
	return prefixedName{prefix, local}
}

// scanAttribute reads NAME="VALUE".
func (s *xmlScanner) scanAttribute() {
	name := s.scanName()
	if name == "" {
		s.fail("the name of an attribute is expected here")
		return
	}
	s.skipBlanks()
	if s.pos >= len(s.text) || s.text[s.pos] != '=' {
		s.fail("= is expected after the name of an attribute")
		return
	}
	s.pos++
	s.skipBlanks()
	if s.pos >= len(s.text) || s.text[s.pos] != '"' && s.text[s.pos] != '\'' {
		s.fail("the value of an attribute must be in quotes")
		return
	}
	quote := s.text[s.pos]
	s.pos++
	end := strings.IndexByte(s.text[s.pos:], quote)
	if end < 0 {
		s.fail("the text ends inside the value of an attribute")
		return
	}
	raw := s.text[s.pos : s.pos+end]
	if strings.IndexByte(raw, '<') >= 0 {
		s.fail("the value of an attribute has an unescaped <")
		return
	}
	if len(s.attrs) == maxXMLAttributes {
		s.fail(fmt.Sprintf("an element has more than %d attributes", maxXMLAttributes))
		return
	}
	split := splitXMLName(name)
	for _, a := range s.attrs {
		if a.name == split {
			s.fail("an attribute is given twice")
			return
		}
	}
	value := s.resolveText(raw, true)
	s.pos += end + 1
	s.attrs = append(s.attrs, xmlAttr{split, value})
}

// scanEndTag reads the tag that ends an element.
func (s *xmlScanner) scanEndTag() xmlToken {
	begin := s.pos
	s.pos += 2
	name := s.scanName()
	s.skipBlanks()
	switch {
	case name == "" || s.pos >= len(s.text) || s.text[s.pos] != '>':
		return s.fail("the tag that ends an element is not complete")
	case len(s.open) == 0:
		s.pos = begin
		return s.fail("an element ends that has not begun")
	case s.open[len(s.open)-1] != name:
		s.pos = begin
		return s.fail("element <" + s.open[len(s.open)-1] + "> is ended by </" + name + ">")
	}
	s.pos++
	return s.endElement()
}

// scanText reads text up to the next tag.
func (s *xmlScanner) scanText() xmlToken {
	end := strings.IndexByte(s.text[s.pos:], '<')
	if end < 0 {
		end = len(s.text) - s.pos
	}
	raw := s.text[s.pos : s.pos+end]
	if i := strings.Index(raw, "]]>"); i >= 0 {
		s.pos += i
		return s.fail("the text has ]]> outside a CDATA section")
	}
	text := s.resolveText(raw, true)
	if s.fault != "" {
		return xmlToken{}
	}
	s.pos += end
	return xmlToken{
		kind: xmlText,
		text: text,
	}
}

// scanCDATA reads a section whose text is not escaped.
func (s *xmlScanner) scanCDATA() xmlToken {
	begin := s.pos + len("<![CDATA[")
	end := strings.Index(s.text[begin:], "]]>")
	if end < 0 {
		return s.fail("the text ends inside a CDATA section")
	}
	text := s.resolveText(s.text[begin:begin+end], false)
	s.pos = begin + end + len("]]>")
	if s.fault != "" {
		return xmlToken{}
	}
	return xmlToken{
		kind: xmlText,
		text: text,
	}
}

// skipComment skips a comment, which must not have two hyphens.
func (s *xmlScanner) skipComment() {
	begin := s.pos + len("<!--")
	end := strings.Index(s.text[begin:], "--")
	if end < 0 || !strings.HasPrefix(s.text[begin+end:], "-->") {
		s.fail("a comment does not end with --> or has -- inside")
		return
	}
	s.resolveText(s.text[begin:begin+end], false)
	s.pos = begin + end + len("-->")
}

// skipInstruction skips a processing instruction. The declaration of the document must say version 1.0 and UTF-8.
func (s *xmlScanner) skipInstruction() {
	begin := s.pos
	s.pos += 2
	target := s.scanName()
	end := strings.Index(s.text[s.pos:], "?>")
	if target == "" || end < 0 {
		s.fail("a processing instruction is not complete")
		return
	}
	body := s.text[s.pos : s.pos+end]
	s.resolveText(body, false)
	s.pos += end + 2
	if target != "xml" || s.fault != "" {
		return
	}
	version, encoding := instructionValue(body, "version"), instructionValue(body, "encoding")
	other := strings.Contains(body, "encoding") && !strings.EqualFold(encoding, "utf-8")
	if begin != 0 || version != "1.0" || other {
		s.fail("the declaration must be at the beginning, of version 1.0 and encoding UTF-8")
	}
}

// instructionValue is a value of the declaration of a document, empty if it is absent.
func instructionValue(body, name string) string {
	_, rest, found := strings.Cut(body, name)
	rest, equals := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), "=")
	rest = strings.TrimLeft(rest, " \t\r\n")
	if !found || !equals || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	value, _, closed := strings.Cut(rest[1:], rest[:1])
	if !closed {
		return ""
	}
	return value
}

func (s *xmlScanner) skipBlanks() (found bool) {
	for s.pos < len(s.text) && isXMLBlank(s.text[s.pos]) {
		s.pos++
		found = true
	}
	return found
}

func isXMLBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// scanName reads the name of an element or attribute; empty if there is none.
func (s *xmlScanner) scanName() string {
	begin, colons, plain := s.pos, 0, true
	for ; s.pos < len(s.text); s.pos++ {
		c := s.text[s.pos]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_':
			continue
		case c == ':':
			colons++
			continue
		case c >= utf8.RuneSelf:
			plain = false
			continue
		case s.pos > begin && ('0' <= c && c <= '9' || c == '-' || c == '.'):
			continue
		}
		break
	}
	name := s.text[begin:s.pos]
	if colons > 1 || !plain && !isXMLName(name) {
		return ""
	}
	return name
}

// isXMLName asks encoding/xml, which has the tables of letters. Names of YANG are ASCII, so it is seldom asked.
func isXMLName(name string) bool {
	_, err := xml.NewDecoder(strings.NewReader("<" + name + "/>")).RawToken()
	return err == nil
}

// resolveText checks the characters of a text, makes each end of a line one character and, if the text is escaped,
// resolves references.
func (s *xmlScanner) resolveText(raw string, escaped bool) string {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\r' || c == '&' && escaped {
			return s.rewriteText(raw, i, escaped)
		}
		if c < ' ' && c != '\n' && c != '\t' {
			s.fail("the text has a control character, which XML does not allow")
			return ""
		}
	}
	return raw
}

// rewriteText is resolveText from the first place where the text changes.
func (s *xmlScanner) rewriteText(raw string, i int, escaped bool) string {
	b := make([]byte, 0, len(raw))
	b = append(b, raw[:i]...)
	for i < len(raw) && s.fault == "" {
		c := raw[i]
		switch {
		case c == '\r':
			if b = append(b, '\n'); strings.HasPrefix(raw[i:], "\r\n") {
				i++
			}
		case c == '&' && escaped:
			end := strings.IndexByte(raw[i:], ';')
			r, known := referenced(raw[i+1 : i+max(end, 1)])
			if end < 0 || !known {
				s.fail("the text has an entity or reference that is not known, or an unescaped &")
			}
			b = utf8.AppendRune(b, r)
			i += max(end, 0)
		case c < ' ' && c != '\n' && c != '\t':
			s.fail("the text has a control character, which XML does not allow")
		default:
			b = append(b, c)
		}
		i++
	}
	return string(b)
}

// referenced is the character of a reference without & and semicolon.
func referenced(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "apos":
		return '\'', true
	case "quot":
		return '"', true
	}
	digits, is := strings.CutPrefix(name, "#")
	if !is || digits == "" {
		return 0, false
	}
	base := 10
	if hex, is := strings.CutPrefix(digits, "x"); is {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	r := rune(n)
	ok := err == nil && utf8.ValidRune(r) &&
		(r >= ' ' || r == '\t' || r == '\n' || r == '\r') &&
		!isNonCharacter(r)
	return r, ok
}
