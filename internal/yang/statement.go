package yang

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

// statement is one statement of a module (RFC 7950 section 6.3). It knows its place, for the names in it mean what
// they mean there, wherever a grouping is used.
type statement struct {
	keyword string // with the prefix of an extension's
	arg     string
	hasArg  bool
	line    int
	file    *file
	parent  *statement
	sub     []*statement
}

// faultAt makes a fault that names the place of the statement as file:line.
func faultAt(s *statement, format string, args ...any) *fault.Error {
	return fault.At(fault.Invalid, fmt.Sprintf("%s:%d", s.file.path, s.line), format, args...)
}

// firstSub returns the first sub-statement with a keyword, nil if there is none.
func (s *statement) firstSub(keyword string) *statement {
	for _, c := range s.sub {
		if c.keyword == keyword {
			return c
		}
	}
	return nil
}

// subsWithKeyword returns the sub-statements with a keyword.
func (s *statement) subsWithKeyword(keyword string) (out []*statement) {
	for _, c := range s.sub {
		if c.keyword == keyword {
			out = append(out, c)
		}
	}
	return out
}

// firstArgument returns the argument of the first sub-statement with a keyword.
func firstArgument(s *statement, keyword string) string {
	if c := s.firstSub(keyword); c != nil {
		return c.arg
	}
	return ""
}

// reader reads the text of a module.
type reader struct {
	text string
	pos  int
	line int
	file *file
	err  *fault.Error
}

// parseStatements reads the one statement of a file. Errors name the line.
func parseStatements(f *file) (*statement, error) {
	r := &reader{
		text: strings.TrimPrefix(f.text, "\ufeff"),
		line: 1,
		file: f,
	}
	if !utf8.ValidString(r.text) {
		return nil, fault.At(fault.Invalid, f.path, "the text is not UTF-8")
	}
	s := r.readStatement(0)
	if r.err == nil && r.skipBlanks() {
		r.recordFault("want exactly one module statement in the file, there is more after it")
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

func (r *reader) recordFault(format string, args ...any) {
	if r.err == nil {
		r.err = fault.At(fault.Invalid, fmt.Sprintf("%s:%d", r.file.path, r.line), format, args...)
	}
}

// skipBlanks passes over blanks and comments and reports whether text follows.
func (r *reader) skipBlanks() bool {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == '\n':
			r.line++
			r.pos++
		case c == ' ' || c == '\t' || c == '\r':
			r.pos++
		case strings.HasPrefix(r.text[r.pos:], "//"):
			if n := strings.IndexByte(r.text[r.pos:], '\n'); n >= 0 {
				r.pos += n
			} else {
				r.pos = len(r.text)
			}
		case strings.HasPrefix(r.text[r.pos:], "/*"):
			n := strings.Index(r.text[r.pos+2:], "*/")
			if n < 0 {
				r.recordFault("a comment does not end")
				return false
			}
			r.line += strings.Count(r.text[r.pos:r.pos+n+4], "\n")
			r.pos += n + 4
		default:
			return true
		}
	}
	return false
}

// peekByte is the next byte, 0 at the end.
func (r *reader) peekByte() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *reader) readStatement(depth int) *statement {
	if depth > maxNesting {
		r.recordFault("statements nest more than %d levels deep", maxNesting)
		return nil
	}
	if !r.skipBlanks() {
		r.recordFault("the text ends where a statement is expected")
		return nil
	}
	s := &statement{line: r.line, file: r.file}
	if c := r.peekByte(); c == '"' || c == '\'' {
		r.recordFault("a keyword is expected here, without quotes")
		return nil
	}
	s.keyword = r.readWord()
	prefix, name := splitPrefix(s.keyword)
	if r.err == nil &&
		(!isIdentifier(name) || prefix == "" && strings.Contains(s.keyword, ":") || prefix != "" && !isIdentifier(prefix)) {
		r.recordFault("a keyword is expected here, not %.40q", s.keyword)
	}
	r.skipBlanks()
	c := r.peekByte()
	if c != ';' && c != '{' && r.err == nil {
		s.arg, s.hasArg = r.readArgument(), true
		r.skipBlanks()
	}
	if r.err != nil {
		return nil
	}
	switch r.peekByte() {
	case ';':
		r.pos++
		return s
	case '{':
		r.pos++
	case 0:
		r.recordFault("the text ends before a ; or { after %q", s.keyword)
		return nil
	default:
		r.recordFault("a ; or { is expected after %q", s.keyword)
		return nil
	}
	for r.err == nil {
		if !r.skipBlanks() {
			r.recordFault("the text ends before the } of the %q in line %d", s.keyword, s.line)
			return nil
		}
		if r.peekByte() == '}' {
			r.pos++
			return s
		}
		if c := r.readStatement(depth + 1); c != nil {
			c.parent = s
			s.sub = append(s.sub, c)
		}
	}
	return nil
}

// readWord reads an unquoted string.
func (r *reader) readWord() string {
	start := r.pos
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		if strings.IndexByte(" \t\r\n;{}\"'", c) >= 0 ||
			c == '/' && r.pos+1 < len(r.text) && (r.text[r.pos+1] == '/' || r.text[r.pos+1] == '*') {
			break
		}
		r.pos++
	}
	if r.pos == start {
		r.recordFault("unexpected %q", r.text[r.pos:min(r.pos+1, len(r.text))])
	}
	return r.text[start:r.pos]
}

// readArgument reads a string, or several joined with +.
func (r *reader) readArgument() string {
	if c := r.peekByte(); c != '"' && c != '\'' {
		return r.readWord()
	}
	var out strings.Builder
	for {
		if r.peekByte() == '"' {
			r.readDoubleQuoted(&out)
		} else {
			r.readSingleQuoted(&out)
		}
		r.skipBlanks()
		if r.err != nil || r.peekByte() != '+' {
			return out.String()
		}
		r.pos++
		r.skipBlanks()
		if c := r.peekByte(); c != '"' && c != '\'' {
			r.recordFault("a string in quotes is expected after +")
			return ""
		}
	}
}

func (r *reader) readSingleQuoted(out *strings.Builder) {
	n := strings.IndexByte(r.text[r.pos+1:], '\'')
	if n < 0 {
		r.recordFault("a string does not end")
		return
	}
	s := r.text[r.pos+1 : r.pos+1+n]
	out.WriteString(strings.ReplaceAll(s, "\r\n", "\n"))
	r.line += strings.Count(s, "\n")
	r.pos += n + 2
}

// readDoubleQuoted reads a string in double quotes: blanks around line ends go, up to the column of the quote at the beginning of
// the next line (RFC 7950 section 6.1.3).
func (r *reader) readDoubleQuoted(out *strings.Builder) {
	begin := strings.LastIndexByte(r.text[:r.pos], '\n') + 1
	column := 1
	for _, c := range r.text[begin:r.pos] {
		if column++; c == '\t' {
			column += 7
		}
	}
	r.pos++
	var b []byte
	kept := 0 // what escapes wrote is no blank that goes
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; c {
		case '"':
			r.pos++
			out.Write(b)
			return
		case '\\':
			b = r.appendEscape(b)
			kept = len(b)
			continue
		case '\n':
			for len(b) > kept && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r') {
				b = b[:len(b)-1]
			}
			b = append(b, '\n')
			kept = len(b)
			r.line++
			r.pos++
			r.skipIndentation(column)
			continue
		default:
			b = append(b, c)
		}
		r.pos++
	}
	r.recordFault("a string does not end")
}

// skipIndentation passes over the blanks of a continued line, up to a column.
func (r *reader) skipIndentation(column int) {
	for at := 0; at < column && r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case ' ':
			at++
		case '\t':
			at += 8
		default:
			return
		}
	}
}

func (r *reader) appendEscape(b []byte) []byte {
	r.pos++
	c := r.peekByte()
	r.pos++
	switch c {
	case 'n':
		return append(b, '\n')
	case 't':
		return append(b, '\t')
	case '"', '\\':
		return append(b, c)
	}
	if r.file.old { // RFC 6020 leaves others as they are
		return append(b, '\\', c)
	}
	r.recordFault(
		"the escape \\%c is not one of \\n, \\t, \\\" and \\\\: write the string in single quotes",
		c,
	)
	return b
}
