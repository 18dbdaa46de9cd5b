package yang

import (
	"strings"

	"ctl.internal/sdk/fault"
)

// The bounds of one module file. The largest module published by the IETF is
// about a quarter of a mebibyte and nests 20 levels deep.
const (
	maxFileSize = 1 << 20
	maxNesting  = 64
)

// file is the text of a module or submodule, parsed into statements.
type file struct {
	source   string // who ships it
	path     string
	text     string
	name     string
	revision string
	old      bool // of YANG version 1 (RFC 6020)
	stmt     *statement
	imports  []importOf
	includes []*statement

	// What resolve finds:
	module   *file   // itself, or the module that a submodule belongs to
	parts    []*file // of a module: its submodules
	prefixes map[string]*file
	defs     map[string]*statement // of a module: "keyword name" → definition at its top or that of a submodule
}

type importOf struct {
	stmt     *statement
	module   string
	prefix   string
	revision string // as written, or as chosen by resolve
}

// nameAndRevision is the name and revision of the file.
func (f *file) nameAndRevision() string {
	return fullName(f.name, f.revision)
}

func fullName(module, revision string) string {
	if revision == "" {
		return module
	}
	return module + "@" + revision
}

// isSubmodule reports whether the file is a part of a module.
func (f *file) isSubmodule() bool {
	return f.stmt.keyword == "submodule"
}

// ownPrefix is the one that the file gives its own module.
func (f *file) ownPrefix() string {
	if f.isSubmodule() {
		return firstArgument(f.stmt.firstSub("belongs-to"), "prefix")
	}
	return firstArgument(f.stmt, "prefix")
}

// moduleBodies are the statements of a module and of its submodules.
func (f *file) moduleBodies() []*statement {
	out := []*statement{f.stmt}
	for _, p := range f.parts {
		out = append(out, p.stmt)
	}
	return out
}

// scanFile reads one file into statements.
func scanFile(source, path string, text []byte) (*file, error) {
	if len(text) > maxFileSize {
		return nil, fault.At(
			fault.TooBig,
			path,
			"a YANG module may have %d bytes at most, this has %d",
			maxFileSize,
			len(text),
		)
	}
	f := &file{
		source: source,
		path:   path,
		text:   string(text),
		old:    !versionOf11(string(text)),
	}
	s, err := parseStatements(f)
	if err != nil {
		return nil, err
	}
	f.stmt, f.name = s, s.arg
	if s.keyword != "module" && s.keyword != "submodule" {
		return nil, faultAt(s, "want a module, found %q", s.keyword)
	}
	if !isIdentifier(s.arg) {
		return nil, faultAt(s, "%q is not a module name", s.arg)
	}
	if l := f.checkGrammar(); len(l) > 0 {
		return nil, l.Err()
	}
	f.readHeader()
	return f, nil
}

// versionOf11 reports whether a text says that it is of version 1.1: strings are read by other rules then.
func versionOf11(text string) bool {
	_, rest, ok := strings.Cut(text, "yang-version")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n\"'"), "1.1")
}

// readHeader reads revisions, imports and includes.
func (f *file) readHeader() {
	for _, c := range f.stmt.sub {
		switch c.keyword {
		case "revision":
			f.revision = max(f.revision, c.arg)
		case "import":
			f.imports = append(
				f.imports,
				importOf{
					stmt:     c,
					module:   c.arg,
					prefix:   firstArgument(c, "prefix"),
					revision: firstArgument(c, "revision-date"),
				},
			)
		case "include":
			f.includes = append(f.includes, c)
		}
	}
}

// findDefinition returns the definition that a name means at a statement: one in the statements around it, at the top of the module,
// or with a prefix in another module; nil if there is none.
func (s *statement) findDefinition(keyword, name string) *statement {
	prefix, local := splitPrefix(name)
	if prefix != "" && prefix != s.file.ownPrefix() {
		if m := s.file.prefixes[prefix]; m != nil {
			return m.defs[keyword+" "+local]
		}
		return nil
	}
	for p := s.parent; p != nil; p = p.parent {
		for _, c := range p.sub {
			if c.keyword == keyword && c.arg == local {
				return c
			}
		}
	}
	return s.file.module.defs[keyword+" "+local]
}

// moduleOf returns the module that a prefix means at a statement, that of the file for none; nil if it is not known.
func (s *statement) moduleOf(prefix string) *file {
	if prefix == "" {
		return s.file.module
	}
	return s.file.prefixes[prefix]
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
	return c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z' ||
		c == '_' ||
		i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.')
}
