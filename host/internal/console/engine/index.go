package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Source gives command tables. It is asked on each use, so that the commands of a
// plugin appear when its feature is installed.
type Source func() []commands.Command

// Static is a Source that never changes.
func Static(table []commands.Command) Source {
	return func() []commands.Command { return table }
}

// index is the commands there are now, sorted by name.
type index struct {
	all    []commands.Command
	byName map[string]int
}

func newIndex(tables ...[]commands.Command) *index {
	x := &index{byName: map[string]int{}}
	for _, t := range tables {
		for _, c := range t {
			if _, twice := x.byName[c.Name]; !twice { // the host's own tables come first and win
				x.byName[c.Name] = 0
				x.all = append(x.all, c)
			}
		}
	}
	slices.SortFunc(x.all, func(a, b commands.Command) int {
		return cmp.Compare(a.Name, b.Name)
	})
	for i, c := range x.all {
		x.byName[c.Name] = i
	}
	return x
}

func splitCommandName(name string) (scope, bare string) {
	if i := strings.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func (x *index) listScopes() []string {
	all := map[string]bool{}
	for _, c := range x.all {
		if s, _ := splitCommandName(c.Name); s != "" {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// listBareNames are the names within a scope.
func (x *index) listBareNames(scope string) []string {
	var out []string
	for _, c := range x.all {
		if s, b := splitCommandName(c.Name); s == scope {
			out = append(out, b)
		}
	}
	return out
}

func (x *index) hasScope(s string) bool {
	return slices.Contains(x.listScopes(), s)
}

// findCommand returns the command that a name means in a scope: the full name; else the
// bare name in the subshell's scope, in the shell's own, or in the only scope that
// has it. Case does not matter where that leaves one command.
func (x *index) findCommand(scope, name string) (commands.Command, error) {
	if name == "" {
		return commands.Command{}, fault.New(fault.Invalid, "the name of the command is empty")
	}
	for _, full := range []string{name, scope + ":" + name, shellScope + ":" + name} {
		if i, ok := x.byName[full]; ok {
			return x.all[i], nil
		}
	}
	var hits []commands.Command
	for _, c := range x.all {
		_, bare := splitCommandName(c.Name)
		if strings.EqualFold(bare, name) || strings.EqualFold(c.Name, name) {
			hits = append(hits, c)
		}
	}
	switch len(hits) {
	case 0:
		return commands.Command{}, x.unknownCommandError(scope, name)
	case 1:
		return hits[0], nil
	}
	names := make([]string, len(hits))
	for i, c := range hits {
		names[i] = c.Name
	}
	return commands.Command{}, fault.New(
		fault.Invalid,
		"%s can mean %s; write the whole name",
		name,
		orList(names),
	)
}

// otherNames are scopes of Karaf that have another name here.
var otherNames = map[string]string{
	"bundle": "plugin",
	"kar":    "feature",
	"jaas":   "aaa",
	"ssh":    "shell",
	"dev":    "system",
}

// unknownCommandError is the error of a name that means no command, with one that can be typed instead.
func (x *index) unknownCommandError(within, name string) error {
	if scope, bare := splitCommandName(name); !x.hasScope(scope) && x.hasScope(otherNames[scope]) {
		instead := otherNames[scope] + ":" + bare
		if _, known := x.byName[instead]; !known {
			instead = "help " + otherNames[scope]
		}
		return fault.New(
			fault.NotFound,
			"there is no command %s: what Karaf has as %s: is %s: here; try %s",
			name,
			scope,
			otherNames[scope],
			instead,
		)
	}
	scope, bare := splitCommandName(name)
	known := make([]string, 0, 2*len(x.all))
	for _, c := range x.all {
		s, b := splitCommandName(c.Name)
		known = append(known, c.Name)
		if scope == "" {
			_, err := x.findCommand(within, b)
			if err == nil { // one that can mean several would be refused
				known = append(known, b)
			}
		} else if s == scope && strings.EqualFold(b, bare) {
			return fault.New(
				fault.NotFound,
				"there is no command %s; did you mean %s?",
				name,
				c.Name,
			)
		}
	}
	near, ok := "", false
	if scope != "" && x.hasScope(scope) { // what the scope has in common is no likeness
		if near, ok = nearest.Name(bare, x.listBareNames(scope)); ok {
			near = scope + ":" + near
		}
	} else {
		near, ok = nearest.Name(name, known)
	}
	if ok {
		return fault.New(fault.NotFound, "there is no command %s; did you mean %s?", name, near)
	}
	if scope != "" && !x.hasScope(scope) {
		return fault.New(
			fault.NotFound,
			"there is no command %s: no installed feature has the scope %s; see feature:list and help",
			name,
			scope,
		)
	}
	return fault.New(fault.NotFound, "there is no command %s; help lists the commands", name)
}

func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
