package yang

import (
	"bytes"
	"fmt"
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// The bounds of one module file. The largest module published by the IETF is
// about a quarter of a mebibyte and nests 20 levels deep.
const (
	maxFileSize = 1 << 20
	maxNesting  = 64
)

// file is one module file, parsed into statements but not yet resolved.
type file struct {
	source   string // who ships it
	path     string
	text     string
	name     string
	revision string
	stmt     *gy.Statement
	imports  []importOf
}

type importOf struct {
	stmt     *gy.Statement
	module   string
	prefix   string
	revision string // as written, or as chosen by resolve
}

// full is the name goyang knows the file by.
func (f *file) full() string { return fullName(f.name, f.revision) }

// at makes a fault that names the place of a statement as file:line.
func at(s *gy.Statement, format string, args ...any) *fault.Error {
	loc := s.Location()
	if i := strings.LastIndexByte(loc, ':'); i > 0 && strings.Count(loc, ":") > 1 {
		loc = loc[:i] // the column is not helpful
	}
	return fault.At(fault.Invalid, loc, format, args...)
}

// scan reads one file into statements.
func scan(source, path string, text []byte) (*file, error) {
	if len(text) > maxFileSize {
		return nil, fault.At(fault.TooBig, path, "a YANG module may have %d bytes at most, this has %d", maxFileSize, len(text))
	}
	if line := tooDeep(text); line > 0 {
		return nil, fault.At(fault.Invalid, fmt.Sprintf("%s:%d", path, line), "statements nest more than %d levels deep", maxNesting)
	}
	stmts, err := parseStatements(string(text), path)
	if err != nil {
		return nil, err
	}
	if len(stmts) != 1 {
		return nil, fault.At(fault.Invalid, path, "want exactly one module statement in the file, found %d statements", len(stmts))
	}
	s := stmts[0]
	if s.Keyword == "submodule" {
		return nil, at(s, "submodules are not supported: put the text of %q into its module", s.Argument)
	}
	if s.Keyword != "module" {
		return nil, at(s, "want a module, found %q", s.Keyword)
	}
	if !isIdentifier(s.Argument) {
		return nil, at(s, "%q is not a module name", s.Argument)
	}
	f := &file{source: source, path: path, text: string(text), name: s.Argument, stmt: s}
	return f, f.header()
}

// header reads revisions and imports.
func (f *file) header() error {
	for _, c := range f.stmt.SubStatements() {
		switch c.Keyword {
		case "revision":
			if c.Argument > f.revision {
				f.revision = c.Argument
			}
		case "import":
			imp := importOf{stmt: c, module: c.Argument, prefix: argument(c, "prefix"), revision: argument(c, "revision-date")}
			if imp.prefix == "" {
				return at(c, "the import of %q has no prefix", c.Argument)
			}
			f.imports = append(f.imports, imp)
		}
	}
	return nil
}

// parseStatements calls goyang's parser, which reports all errors as one text of
// file:line:column lines.
func parseStatements(text, path string) (s []*gy.Statement, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.At(fault.Invalid, path, "the YANG parser failed: %v", r)
		}
	}()
	s, err = gy.Parse(text, path)
	if err != nil {
		return nil, faults(err).Err()
	}
	return s, nil
}

// faults splits goyang's errors into one fault a line.
func faults(errs ...error) fault.List {
	var l fault.List
	for _, err := range errs {
		for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
			place, text := splitPlace(line)
			l = append(l, &fault.Error{Kind: fault.Invalid, Path: place, Text: text})
		}
	}
	return l
}

// splitPlace parts "file:line:col: text".
func splitPlace(s string) (place, text string) {
	head, tail, ok := strings.Cut(s, ": ")
	if !ok || !strings.Contains(head, ":") {
		return "", s
	}
	if i := strings.LastIndexByte(head, ':'); strings.Count(head, ":") > 1 {
		head = head[:i]
	}
	return head, tail
}

// tooDeep returns the line at which the nesting passes the bound, else 0. It is
// a lexer of its own because goyang's parser recurses without a bound.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			if depth++; depth > maxNesting {
				return 1 + bytes.Count(text[:i], []byte("\n"))
			}
		case '}':
			depth--
		case '\'':
			i = skipTo(text, i+1, "'")
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			switch {
			case bytes.HasPrefix(text[i:], []byte("//")):
				i = skipTo(text, i, "\n")
			case bytes.HasPrefix(text[i:], []byte("/*")):
				i = skipTo(text, i+2, "*/") + 1
			}
		}
	}
	return 0
}

func skipTo(text []byte, from int, end string) int {
	n := bytes.Index(text[from:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return from + n
}

// argument returns the argument of the first sub-statement with a keyword.
func argument(s *gy.Statement, keyword string) string {
	for _, c := range s.SubStatements() {
		if c.Keyword == keyword {
			return c.Argument
		}
	}
	return ""
}

// isIdentifier reports whether s is a YANG identifier (RFC 7950 section 6.2).
func isIdentifier(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i], i) {
			return false
		}
	}
	return s != ""
}

// nameByte reports whether an identifier may have c at a place.
func nameByte(c byte, i int) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.')
}
