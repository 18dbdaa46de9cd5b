package yang

import (
	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// maxExpansion bounds the statements that one definition may expand to, so that
// groupings that use each other twice over cannot fill the memory.
const maxExpansion = 100_000

// definition is a grouping, typedef or identity and what it refers to.
type definition struct {
	stmt *gy.Statement
	refs []string // keys of other definitions
	own  int      // statements of its own
	size int      // with everything it refers to; 0 = not visited, -1 = being visited
}

// cycles refuses definitions that refer to themselves: goyang would recurse
// until the stack is gone, which no recover can catch.
func cycles(files []*file) fault.List {
	defs := map[string]*definition{}
	var order []string
	for _, f := range files {
		prefixes := map[string]string{"": f.full(), argument(f.stmt, "prefix"): f.full()}
		for _, i := range f.imports {
			prefixes[i.prefix] = fullName(i.module, i.revision)
		}
		define(f.stmt, f, prefixes, defs, &order)
	}
	var l fault.List
	for _, key := range order {
		visit(key, defs, &l)
	}
	return l
}

func fullName(module, revision string) string {
	if revision == "" {
		return module
	}
	return module + "@" + revision
}

// define collects the definitions below s.
func define(s *gy.Statement, f *file, prefixes map[string]string, defs map[string]*definition, order *[]string) {
	for _, c := range s.SubStatements() {
		switch c.Keyword {
		case "grouping", "typedef", "identity", "module", "container", "list", "rpc", "notification", "augment":
			key := c.Keyword + " " + f.full() + ":" + c.Argument
			d := defs[key]
			if d == nil {
				d = &definition{stmt: c}
				defs[key] = d
				*order = append(*order, key)
			}
			refer(c, prefixes, d)
		}
		define(c, f, prefixes, defs, order)
	}
}

// refer collects what a definition refers to, at any depth inside it.
func refer(s *gy.Statement, prefixes map[string]string, d *definition) {
	for _, c := range s.SubStatements() {
		d.own++
		kind := ""
		switch c.Keyword {
		case "uses":
			kind = "grouping"
		case "type":
			kind = "typedef"
		case "base":
			kind = "identity"
		}
		if kind != "" {
			prefix, name := prefixed(c.Argument)
			d.refs = append(d.refs, kind+" "+prefixes[prefix]+":"+name)
		}
		refer(c, prefixes, d)
	}
}

// visit computes the expanded size of a definition and reports cycles once.
func visit(key string, defs map[string]*definition, l *fault.List) int {
	d := defs[key]
	if d == nil {
		return 0
	}
	switch d.size {
	case -1:
		*l = append(*l, at(d.stmt, "the %s %q refers to itself", d.stmt.Keyword, d.stmt.Argument))
		return 1
	case 0:
		d.size = -1
		n := 1 + d.own
		for _, r := range d.refs {
			n = min(n+visit(r, defs, l), maxExpansion+1)
		}
		d.size = n
		if n > maxExpansion {
			*l = append(*l, at(d.stmt, "the %s %q expands to more than %d statements", d.stmt.Keyword, d.stmt.Argument, maxExpansion))
		}
	}
	return d.size
}
