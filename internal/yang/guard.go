package yang

import (
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// refusedAnywhere are the statements that goyang accepts and then forgets, in
// whatever place of a module they stand.
var refusedAnywhere = map[string]string{
	"deviation": "deviations are not supported: write the module as it is served",
	"include":   "submodules are not supported: put their text into the module",
	"action":    "actions are not supported: use an rpc",
	"anyxml":    "anyxml is not supported: use anydata",
	"modifier":  "pattern modifiers are not supported: write a positive pattern",
}

// guard refuses the statements of a file whose meaning would be lost. What is
// harmless until it is used (must, when, refine) is found in guardTree.
func guard(f *file) fault.List {
	var l fault.List
	var walk func(s *gy.Statement, depth int)
	walk = func(s *gy.Statement, depth int) {
		if why, bad := refusedAnywhere[s.Keyword]; bad {
			l = append(l, at(s, "%s", why))
		}
		switch s.Keyword {
		case "notification":
			if depth > 1 {
				l = append(l, at(s, "a notification inside a data node is not supported: define it at the top of the module"))
			}
		case "if-feature":
			// Every feature counts as supported, so an expression without "not" is true.
			for word := range strings.FieldsSeq(strings.NewReplacer("(", " ", ")", " ").Replace(s.Argument)) {
				if word == "not" {
					l = append(l, at(s, "if-feature with \"not\" is not supported: every feature counts as supported"))
				}
			}
		case "type":
			if n := count(s, "base"); n > 1 {
				l = append(l, at(s, "an identityref with several bases is not supported"))
			}
		}
		for _, c := range s.SubStatements() {
			walk(c, depth+1)
		}
	}
	walk(f.stmt, 0)
	return l
}

func count(s *gy.Statement, keyword string) (n int) {
	for _, c := range s.SubStatements() {
		if c.Keyword == keyword {
			n++
		}
	}
	return n
}

// guardEntry refuses statements of an entry of an instantiated tree that no code
// would check: must, when, and uses that refine or augment their grouping.
func guardEntry(e *gy.Entry) fault.List {
	var l fault.List
	for _, keyword := range [...]string{"must", "when"} {
		for _, x := range e.Extra[keyword] {
			if n, ok := x.(gy.Node); ok {
				l = append(l, at(n.Statement(), "%q in the tree that is served is not checked by this system: say it with types, or check it in the handler and leave the statement out", keyword))
			}
		}
	}
	var uses func([]*gy.UsesStmt)
	uses = func(list []*gy.UsesStmt) {
		for _, u := range list {
			for _, r := range u.Uses.Refine {
				l = append(l, at(r.Statement(), "refine is not supported: write the node out, or give the grouping the property"))
			}
			if a := u.Uses.Augment; a != nil {
				l = append(l, at(a.Statement(), "augment inside uses is not supported: add the nodes beside the uses statement"))
			}
			if u.Grouping != nil {
				uses(u.Grouping.Uses)
			}
		}
	}
	uses(e.Uses)
	return l
}
