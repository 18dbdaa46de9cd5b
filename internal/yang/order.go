package yang

import (
	"sort"

	gy "github.com/openconfig/goyang/pkg/yang"
)

// ordered returns the children of an entry as the module writes them, those of
// groupings in place; goyang keeps them in a map only. What augments added comes
// last, by name.
func (c *compiler) ordered(e *gy.Entry) []*gy.Entry {
	out := make([]*gy.Entry, 0, len(e.Dir))
	left := make(map[string]bool, len(e.Dir))
	for k := range e.Dir {
		left[k] = true
	}
	take := func(name string) {
		if left[name] {
			delete(left, name)
			out = append(out, e.Dir[name])
		}
	}
	if e.Node != nil && e.Node.Statement() != nil {
		written(e.Node, e.Node.Statement(), take)
	}
	for _, k := range sortedKeys(left) {
		take(k)
	}
	return out
}

var dataStatements = map[string]bool{
	"container": true, "list": true, "leaf": true, "leaf-list": true, "choice": true, "case": true, "anydata": true,
	"rpc": true, "notification": true,
}

// written calls take for the names below a statement, uses expanded.
func written(n gy.Node, s *gy.Statement, take func(string)) {
	for _, sub := range s.SubStatements() {
		switch {
		case dataStatements[sub.Keyword]:
			take(sub.Argument)
		case sub.Keyword == "uses":
			if g := gy.FindGrouping(n, sub.Argument, map[string]bool{}); g != nil {
				written(g, g.Statement(), take)
			}
		}
	}
}

// byPlace sorts names by the number that stands for them.
func byPlace(m map[string]int64) []string {
	names := sortedKeys(m)
	sort.SliceStable(names, func(i, j int) bool { return m[names[i]] < m[names[j]] })
	return names
}
