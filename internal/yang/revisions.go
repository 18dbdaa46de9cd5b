package yang

import (
	"maps"
	"slices"
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// library is the files of one Set while it is being built.
type library struct {
	byFull map[string]*file
	byName map[string][]*file
	order  []*file
}

func newLibrary() *library {
	return &library{byFull: map[string]*file{}, byName: map[string][]*file{}}
}

// add takes a file in. The same revision shipped twice is shared when both texts
// mean the same, and refused when they differ, since neither is known to be right.
func (lib *library) add(f *file) error {
	if o := lib.byFull[f.full()]; o != nil {
		if sameMeaning(o.stmt, f.stmt) {
			return nil
		}
		return fault.At(fault.Invalid, f.path, "%s of %s differs from %s of %s though both say they are %s: give one of them another revision",
			f.path, f.source, o.path, o.source, f.full())
	}
	lib.byFull[f.full()] = f
	lib.byName[f.name] = append(lib.byName[f.name], f)
	lib.order = append(lib.order, f)
	return nil
}

// prose are the statements that do not change what a module means.
var prose = map[string]bool{"description": true, "reference": true, "organization": true, "contact": true, "revision": true}

// sameMeaning compares two statements, prose and white space left out.
func sameMeaning(a, b *gy.Statement) bool {
	return a.Keyword == b.Keyword && a.Argument == b.Argument && slices.EqualFunc(meaning(a), meaning(b), sameMeaning)
}

func meaning(s *gy.Statement) []*gy.Statement {
	var out []*gy.Statement
	for _, c := range s.SubStatements() {
		if !prose[c.Keyword] {
			out = append(out, c)
		}
	}
	return out
}

// resolve picks a revision for every import, loading embedded modules for those
// that no source ships.
func (lib *library) resolve() fault.List {
	var l fault.List
	for i := 0; i < len(lib.order); i++ { // grows while embedded modules are taken in
		f := lib.order[i]
		for j := range f.imports {
			imp := &f.imports[j]
			if len(lib.byName[imp.module]) == 0 {
				if err := lib.addEmbedded(imp.module); err != nil {
					l = append(l, fault.All(err)...)
				}
			}
			got := lib.pick(f, imp)
			if got == nil {
				l = append(l, at(imp.stmt, "the module %q is not there: ship it with the plugin%s", fullName(imp.module, imp.revision), lib.nearby(imp.module)))
				continue
			}
			imp.revision = got.revision
		}
	}
	return append(l, lib.checkRevisions()...)
}

// pick chooses what an import means: the revision it names; else the one its own
// source ships; else the newest.
func (lib *library) pick(f *file, imp *importOf) *file {
	var best *file
	for _, c := range lib.byName[imp.module] {
		switch {
		case imp.revision != "":
			if c.revision == imp.revision {
				return c
			}
		case c.source == f.source:
			return c
		case best == nil || c.revision > best.revision:
			best = c
		}
	}
	return best
}

func (lib *library) nearby(module string) string {
	var have []string
	for _, f := range lib.byName[module] {
		have = append(have, f.full()+" of "+f.source)
	}
	if len(have) == 0 {
		return ""
	}
	return " (there is " + strings.Join(have, ", ") + ")"
}

// typesOnly are the statements of modules that may be there in two revisions.
var typesOnly = map[string]bool{
	"yang-version": true, "namespace": true, "prefix": true, "import": true, "typedef": true, "grouping": true,
	"feature": true, "extension": true, "description": true, "reference": true, "organization": true, "contact": true, "revision": true,
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
			for _, s := range f.stmt.SubStatements() {
				if typesOnly[s.Keyword] || strings.Contains(s.Keyword, ":") {
					continue
				}
				l = append(l, at(s, "the module is there in several revisions (%s): only modules of types and groupings may be, this one has the %s %q",
					strings.TrimSuffix(strings.TrimPrefix(lib.nearby(name), " (there is "), ")"), s.Keyword, s.Argument))
				break
			}
		}
	}
	return l
}
