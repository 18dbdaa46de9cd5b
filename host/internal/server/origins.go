package server

import (
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Facts of a tree come out by what is made of it, too: trees that a plugin derives from it, and operations and events that name
// its entries. Whoever is answered these must be allowed to read the original. What names an entry is known by the
// schema: a list, leaf or leaf-list that has the name of a key of the original's lists, or of the list itself.

// topologyTop is the tree that the controller makes of what the sources of topology observe.
const topologyTop = "network-topology:network-topology"

// entries is a list of an original whose entries have one key, and the lists below it.
type entries struct {
	path  tree.Path // without keys
	key   string
	list  string
	below []*entries
}

// original is a tree from which others are made.
type original struct {
	top   tree.Path
	lists []*entries
}

// origins say of trees and modules what they are made of. They are never changed.
type origins struct {
	trees   map[string][]*original // by the qualified name of the top
	modules map[string][]*original // of operations and events
	names   map[string]string      // other names of keys, of the aliases of all plugins
	sources map[string]string      // plugins that observe topologies, by their modules
	// observers are plugins that read what the sources observe, by their modules: their answers name entries in texts, too.
	observers map[string]string

	// marked are keys by the names of leaves that are marked as a resource: by the plugin that observes topologies, as such a name may
	// mean something else in another, and under "" of all, for modules that are made of what these observe.
	marked map[string]map[string]string
}

// newOrigins reads what the manifests say.
func newOrigins(set *yang.Set, manifests []*pluginv1.Manifest, aliases []yang.AliasSet) *origins {
	o := &origins{
		trees:     map[string][]*original{},
		modules:   map[string][]*original{},
		names:     map[string]string{},
		sources:   map[string]string{},
		marked:    map[string]map[string]string{"": {}},
		observers: map[string]string{},
	}
	first := map[string]bool{"/" + topologyTop: true} // trees that are made of no other, whoever owns them
	copied := map[string]bool{}                       // these, and what is derived from one
	for _, m := range manifests {
		for _, path := range m.Derives {
			first[path] = true
		}
	}
	maps.Copy(copied, first)
	for _, m := range manifests {
		if len(m.Derives) == 0 {
			continue
		}
		for _, own := range m.Owns {
			delete(first, own)
			copied[own] = true
		}
	}
	for _, m := range manifests {
		var made []string
		for _, path := range slices.Concat(m.Derives, m.Reads) {
			if copied[path] && !slices.Contains(m.Owns, path) && !slices.Contains(made, path) {
				made = append(made, path)
			}
		}
		if slices.Contains(m.Capabilities, "topology") {
			o.addSource(set, m)
			if !slices.Contains(made, "/"+topologyTop) {
				made = append(made, "/"+topologyTop)
			}
		}
		if slices.Contains(m.Uses, "topology") && !slices.Contains(made, "/"+topologyTop) {
			made = append(made, "/"+topologyTop)
			o.addObserver(m)
		}
		owned := slices.DeleteFunc(slices.Clone(m.Owns), func(path string) bool {
			return first[path]
		})
		o.add(set, m, owned, made)
	}
	for _, a := range aliases {
		for _, in := range a.Inputs {
			for from, to := range in.Members {
				o.names[from] = to
			}
		}
	}
	return o
}

// addSource notes the modules of a plugin that observes topologies, and which of their leaves name a node, a link or a topology:
// those that are marked as such a resource.
func (o *origins) addSource(set *yang.Set, m *pluginv1.Manifest) {
	marked := map[string]string{}
	o.marked[m.Name] = marked
	for _, y := range m.YangModules {
		name, _, _ := strings.Cut(y.Name, "@")
		module := set.Module(name)
		if module == nil || !y.Implemented {
			continue
		}
		o.sources[name] = m.Name
		for _, r := range module.RPCs {
			nameMarked(r.Input, marked)
			nameMarked(r.Output, marked)
		}
		for _, n := range module.Notifications {
			nameMarked(n, marked)
		}
	}
	maps.Copy(o.marked[""], marked)
}

// addObserver notes the modules of a plugin that reads what the sources observe by itself, with no rights but its own.
func (o *origins) addObserver(m *pluginv1.Manifest) {
	for _, y := range m.YangModules {
		name, _, _ := strings.Cut(y.Name, "@")
		if y.Implemented {
			o.observers[name] = m.Name
		}
	}
}

// observerOf is a module of a plugin that reads what the sources observe; false if it is none.
func (o *origins) observerOf(plugin string) (module string, ok bool) {
	for name, of := range o.observers {
		if of == plugin {
			return name, true
		}
	}
	return "", false
}

// namedKinds are the kinds of resources that are entries of topologies; the key of an entry is the kind and "-id".
var namedKinds = []string{"topology", "node", "link"}

func nameMarked(at *yang.Node, marked map[string]string) {
	for _, n := range at.Members() {
		if n.Annotations != nil && slices.Contains(namedKinds, n.Annotations.Resource) {
			marked[n.Name] = n.Annotations.Resource + "-id"
		}
		nameMarked(n, marked)
	}
}

// add notes that trees of a plugin, and its operations and events, are made of others.
func (o *origins) add(set *yang.Set, m *pluginv1.Manifest, owned, made []string) {
	for _, path := range made {
		top := set.Root.Member(strings.TrimPrefix(path, "/"))
		if top == nil {
			continue // of a plugin that is not there
		}
		from := &original{top: tree.Path{{Node: top}}}
		from.lists = entriesBelow(from.top)
		for _, own := range owned {
			name := strings.TrimPrefix(own, "/")
			o.trees[name] = append(o.trees[name], from)
		}
		for _, y := range m.YangModules {
			name, _, _ := strings.Cut(y.Name, "@")
			if y.Implemented && name != top.Module {
				o.modules[name] = append(o.modules[name], from)
			}
		}
	}
}

// entriesBelow finds the lists with one key below a node, down to those.
func entriesBelow(at tree.Path) []*entries {
	var out []*entries
	for _, n := range at.Node().Members() {
		path := append(slices.Clone(at), tree.Step{Node: n})
		switch {
		case n.Kind == yang.Container:
			out = append(out, entriesBelow(path)...)
		case n.Kind == yang.List && len(n.Keys) == 1:
			out = append(out, &entries{path, n.Keys[0].Name, n.Name, entriesBelow(path)})
		}
	}
	return out
}

// named are the paths of the entries that some names have, the deepest of each branch; none if they name nothing.
func (o *original) named(names map[string]string) []tree.Path {
	return namedBelow(o.lists, nil, names)
}

func namedBelow(lists []*entries, at tree.Path, names map[string]string) []tree.Path {
	var out []tree.Path
	for _, l := range lists {
		value, ok := names[l.key]
		if !ok {
			continue
		}
		path := slices.Concat(at, l.path[len(at):])
		path[len(path)-1].Keys = []string{value}
		below := namedBelow(l.below, path, names)
		if below == nil {
			below = []tree.Path{path}
		}
		out = append(out, below...)
	}
	return out
}

// keyOf is the key that a member named name or its list, of an operation or event of a module, has in an original; false if it is
// not one.
func (o *origins) keyOf(module string, from *original, name string) (string, bool) {
	if _, bare, ok := strings.Cut(name, ":"); ok {
		name = bare
	}
	for range 2 {
		if key, ok := keyIn(from.lists, name); ok {
			return key, true
		}
		other, ok := o.marked[o.sources[module]][name]
		if !ok {
			other, ok = o.names[name]
		}
		if !ok {
			break
		}
		name = other
	}
	return "", false
}

func keyIn(lists []*entries, name string) (string, bool) {
	for _, l := range lists {
		if l.key == name || l.list == name {
			return l.key, true
		}
		if key, ok := keyIn(l.below, name); ok {
			return key, true
		}
	}
	return "", false
}

// of returns the paths of what data is made of, and whether these are entries that it names rather than whole trees.
func (o *origins) of(p tree.Path, seen ...string) (out []tree.Path, entry bool) {
	if len(p) == 0 {
		return nil, false
	}
	top := p[0].Node.QName()
	names := map[string]string{}
	for _, s := range p {
		if s.Node.Kind == yang.List && len(s.Node.Keys) == 1 && len(s.Keys) == 1 {
			names[s.Node.Keys[0].Name] = s.Keys[0]
		}
	}
	entry = true
	for _, from := range o.trees[top] {
		if slices.Contains(seen, from.top[0].Node.QName()) {
			continue
		}
		paths := from.named(names)
		if paths == nil {
			paths, entry = []tree.Path{from.top}, false
		}
		out = append(out, paths...)
		for _, path := range paths {
			more, whole := o.of(path, append(seen, top)...)
			out, entry = append(out, more...), entry && (whole || len(more) == 0)
		}
	}
	return out, entry
}

// copiesOf names what is made of a tree: trees, and modules whose operations and events name its entries.
func (o *origins) copiesOf(top string) []string {
	all := []string{top}
	var modules []string
	for i := 0; i < len(all); i++ { // all grows
		made := func(from []*original) bool {
			return slices.ContainsFunc(from, func(one *original) bool {
				return one.top[0].Node.QName() == all[i]
			})
		}
		for _, name := range slices.Sorted(maps.Keys(o.trees)) {
			if made(o.trees[name]) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		for name, from := range o.modules {
			if made(from) && !slices.Contains(modules, name) {
				modules = append(modules, name)
			}
		}
	}
	slices.Sort(modules)
	modules = slices.DeleteFunc(modules, func(name string) bool {
		return slices.ContainsFunc(all, func(tree string) bool {
			return strings.HasPrefix(tree, name+":")
		})
	})
	return append(all[1:], modules...)
}

// madeOf implements aaa.Options.MadeOf.
func (s *Server) madeOf(below []reqpath.Segment) (paths []reqpath.Path, entry bool) {
	if s.catalog == nil || len(below) == 0 {
		return nil, false
	}
	o, now := s.catalog.origins.Load(), s.catalog.Installed()
	if o == nil || len(o.trees) == 0 {
		return nil, false
	}
	p, err := tree.Parse(now.Schema, below, now.Aliases.Module)
	if err != nil {
		return nil, false // nothing is there: RESTCONF answers so
	}
	found, entry := o.of(p)
	for _, one := range found {
		path, err := reqpath.ParseString(dataAddress(one))
		if err != nil {
			return nil, false
		}
		paths = append(paths, path)
	}
	return paths, entry
}

// dataAddress is the documented address of data.
func dataAddress(p tree.Path) string {
	return "/rests/data" + p.Key()
}
