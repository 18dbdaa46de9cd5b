package yang

import (
	"maps"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// library is the files of one Set while it is being built.
type library struct {
	byFull map[string]*file
	byName map[string][]*file
	parts  []*file // submodules
	order  []*file // modules
}

func newLibrary() *library {
	return &library{
		byFull: map[string]*file{},
		byName: map[string][]*file{},
	}
}

// addFile takes a file in. The same revision shipped twice is shared when both texts
// mean the same, and refused when they differ, since neither is known to be right.
func (lib *library) addFile(f *file) error {
	if f.isSubmodule() {
		lib.parts = append(lib.parts, f)
		return nil
	}
	if o := lib.byFull[f.nameAndRevision()]; o != nil {
		if sameMeaning(o.stmt, f.stmt) {
			return nil
		}
		return fault.At(fault.Invalid, f.path, "%s of %s differs from %s of %s though both say they are %s: give one of them another revision",
			f.path, f.source, o.path, o.source, f.nameAndRevision())
	}
	lib.byFull[f.nameAndRevision()] = f
	lib.byName[f.name] = append(lib.byName[f.name], f)
	lib.order = append(lib.order, f)
	return nil
}

// prose are the statements that do not change what a module means.
var prose = map[string]bool{
	"description":  true,
	"reference":    true,
	"organization": true,
	"contact":      true,
	"revision":     true,
}

// sameMeaning compares two statements, prose and white space left out.
func sameMeaning(a, b *statement) bool {
	return a.keyword == b.keyword &&
		a.arg == b.arg &&
		slices.EqualFunc(meaningfulStatements(a), meaningfulStatements(b), sameMeaning)
}

func meaningfulStatements(s *statement) []*statement {
	var out []*statement
	for _, c := range s.sub {
		if !prose[c.keyword] {
			out = append(out, c)
		}
	}
	return out
}

// resolveImports finds the submodules of every module and picks a revision for every import, loading embedded modules for those
// that no source ships.
func (lib *library) resolveImports() fault.List {
	var l fault.List
	for i := 0; i < len(lib.order); i++ { // grows while embedded modules are taken in
		f := lib.order[i]
		f.module, f.defs = f, map[string]*statement{}
		l = append(l, lib.includeSubmodules(f, f, map[string]bool{})...)
		for _, part := range append([]*file{f}, f.parts...) {
			part.prefixes = map[string]*file{part.ownPrefix(): f}
			for j := range part.imports {
				l = append(l, lib.resolveImport(part, &part.imports[j])...)
			}
			for _, s := range part.stmt.sub {
				if definitions[s.keyword] {
					key := s.keyword + " " + s.arg
					o := f.defs[key]
					if o != nil && o != s {
						l = append(
							l,
							faultAt(
								s,
								"the %s %q is there already: %s:%d",
								s.keyword,
								s.arg,
								o.file.path,
								o.line,
							),
						)
					}
					f.defs[key] = s
				}
			}
		}
	}
	return append(l, lib.checkRevisions()...)
}

var definitions = map[string]bool{
	"typedef":   true,
	"grouping":  true,
	"identity":  true,
	"feature":   true,
	"extension": true,
}

// includeSubmodules takes in the submodules that a part of a module includes.
func (lib *library) includeSubmodules(f, part *file, seen map[string]bool) fault.List {
	var l fault.List
	for _, s := range part.includes {
		if seen[s.arg] {
			continue
		}
		seen[s.arg] = true
		var found *file
		for _, p := range lib.parts {
			rev := firstArgument(s, "revision-date")
			if p.name == s.arg &&
				p.source == f.source &&
				(rev == "" && (found == nil || p.revision > found.revision) || rev != "" && p.revision == rev) {
				found = p
			}
		}
		switch {
		case found == nil:
			l = append(
				l,
				faultAt(
					s,
					"the submodule %q is not there: ship it with the module",
					fullName(s.arg, firstArgument(s, "revision-date")),
				),
			)
		case firstArgument(found.stmt, "belongs-to") != f.name:
			l = append(
				l,
				faultAt(
					s,
					"the submodule %q belongs to the module %q",
					s.arg,
					firstArgument(found.stmt, "belongs-to"),
				),
			)
		case found.module != nil:
			l = append(
				l,
				faultAt(s, "the submodule %q is a part of two revisions of its module", s.arg),
			)
		default:
			found.module = f
			f.parts = append(f.parts, found)
			l = append(l, lib.includeSubmodules(f, found, seen)...)
		}
	}
	return l
}

func (lib *library) resolveImport(f *file, imp *importOf) fault.List {
	var l fault.List
	if len(lib.byName[imp.module]) == 0 {
		if err := lib.addEmbedded(imp.module); err != nil {
			l = append(l, fault.All(err)...)
		}
	}
	got := lib.pickRevision(f, imp)
	if got == nil {
		return append(
			l,
			faultAt(
				imp.stmt,
				"the module %q is not there: ship it with the plugin%s",
				fullName(imp.module, imp.revision),
				lib.describeRevisions(imp.module),
			),
		)
	}
	if f.prefixes[imp.prefix] != nil {
		return append(l, faultAt(imp.stmt, "the prefix %q is there already", imp.prefix))
	}
	imp.revision = got.revision
	f.prefixes[imp.prefix] = got
	return l
}

// pickRevision chooses what an import means: the revision it names; else the one its own
// source ships; else the newest.
func (lib *library) pickRevision(f *file, imp *importOf) *file {
	var best *file
	for _, c := range lib.byName[imp.module] {
		switch {
		case imp.revision != "":
			if c.revision == imp.revision {
				return c
			}
		case best == nil, c.source == f.source && best.source != f.source,
			(c.source == f.source) == (best.source == f.source) && c.revision > best.revision:
			best = c
		}
	}
	return best
}

func (lib *library) describeRevisions(module string) string {
	var have []string
	for _, f := range lib.byName[module] {
		have = append(have, f.nameAndRevision()+" of "+f.source)
	}
	if len(have) == 0 {
		return ""
	}
	return " (there is " + strings.Join(have, ", ") + ")"
}

// typesOnly are the statements of modules that may be there in two revisions.
var typesOnly = map[string]bool{
	"yang-version": true,
	"namespace":    true,
	"prefix":       true,
	"import":       true,
	"typedef":      true,
	"grouping":     true,
	"feature":      true,
	"extension":    true,
	"description":  true,
	"reference":    true,
	"organization": true,
	"contact":      true,
	"revision":     true,
}

// checkRevisions refuses two revisions of a module that defines more than types
// and groupings, for a server has one of each data tree, rpc and identity.
func (lib *library) checkRevisions() fault.List {
	var l fault.List
	for _, name := range slices.Sorted(maps.Keys(lib.byName)) {
		files := lib.byName[name]
		if len(files) < 2 {
			continue
		}
		for _, f := range files {
			for _, s := range f.stmt.sub {
				if typesOnly[s.keyword] || strings.Contains(s.keyword, ":") {
					continue
				}
				l = append(l, faultAt(s, "the module is there in several revisions (%s): only modules of types and groupings may be, this one has the %s %q",
					strings.TrimSuffix(
						strings.TrimPrefix(lib.describeRevisions(name), " (there is "),
						")",
					), s.keyword, s.arg))
				break
			}
		}
	}
	return l
}
