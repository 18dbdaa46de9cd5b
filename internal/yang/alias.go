package yang

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// Aliases are other forms that users send for the input of one rpc, as data of a
// plugin's manifest. They are looked at only where the input does not fit the
// schema, so they never change the meaning of input that does.
type Aliases struct {
	// Members maps other names to member names, at any depth: {"topo-id": "topology-id"}.
	Members map[string]string `json:"members,omitempty" yaml:"members,omitempty"`
	// Values maps, by member name, other values to values:
	// {"bitstringlength": {"256": "256-bit"}}.
	Values map[string]map[string]string `json:"values,omitempty" yaml:"values,omitempty"`
	// Unwrap names leaf-lists whose entries may be objects with one member:
	// {"domain": [{"domain-id": 1}]} for {"domain": [1]}.
	Unwrap []string `json:"unwrap,omitempty" yaml:"unwrap,omitempty"`
	// Wrap names lists and leaf-lists that may be sent as a single entry without
	// brackets.
	Wrap []string `json:"wrap,omitempty" yaml:"wrap,omitempty"`
	// Trim takes stray blanks off member names and off all string values.
	Trim bool `json:"trim,omitempty" yaml:"trim,omitempty"`
}

// memberAlias returns the name that an unknown name stands for below n, "" if none.
func (a *Aliases) memberAlias(n *Node, name string) string {
	if a == nil {
		return ""
	}
	if a.Trim {
		if name = strings.TrimSpace(name); n.index[name] != nil {
			return name
		}
	}
	if _, bare := splitPrefix(name); a.Members[name] == "" {
		name = bare
	}
	return a.Members[name]
}

// valueAlias returns what a value that does not fit stands for.
func (a *Aliases) valueAlias(n *Node, text string) (string, bool) {
	if a == nil || a.Values == nil {
		return "", false
	}
	v, ok := a.Values[n.Name][strings.TrimSpace(text)]
	return v, ok
}

// unwrapEntry makes {"x": v} of a leaf-list entry v.
func (a *Aliases) unwrapEntry(e *Data, n *Node) {
	if a == nil ||
		e.kind != jObject ||
		e.first == nil ||
		e.first.next != nil ||
		!slices.Contains(a.Unwrap, n.Name) {
		return
	}
	if c := e.first; c.kind >= jString && c.kind <= jFalse {
		e.kind, e.text, e.first, e.last = c.kind, c.text, nil, nil
	}
}

func (a *Aliases) wrapsNode(n *Node) bool {
	return a != nil && slices.Contains(a.Wrap, n.Name)
}

// AliasSet is the member "aliases" of a plugin's manifest: other names under
// which its modules, rpcs and their input are served.
type AliasSet struct {
	// Modules maps other module names to modules: {"config": "misc-config"}.
	Modules map[string]string `json:"modules,omitempty" yaml:"modules,omitempty"`
	// RPCs maps module:other to the name of an rpc of that module:
	// {"bier-topology-api:delete-domian": "delete-domain"}.
	RPCs map[string]string `json:"rpcs,omitempty" yaml:"rpcs,omitempty"`
	// Inputs holds the aliases of inputs by module:rpc, or module:* for all rpcs of
	// the module; what both say, the former decides.
	Inputs map[string]Aliases `json:"inputs,omitempty" yaml:"inputs,omitempty"`
}

// ParseAliases reads an AliasSet from JSON. Empty text is an empty set. The error
// is of Kind Invalid.
func ParseAliases(text []byte) (AliasSet, error) {
	var s AliasSet
	if isBlank(text) {
		return s, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fault.Wrap(fault.Invalid, err, "aliases: %v", err)
	}
	return s, nil
}

// AliasIndex answers what a name of a request stands for. It is immutable.
type AliasIndex struct {
	modules map[string]string
	rpcs    map[string]string
	inputs  map[string]*Aliases
}

// NewAliasIndex checks alias sets against the schema and prepares them for use.
// The error holds every alias that names nothing (Kind Invalid).
func NewAliasIndex(set *Set, all ...AliasSet) (*AliasIndex, error) {
	x := &AliasIndex{
		modules: map[string]string{},
		rpcs:    map[string]string{},
		inputs:  map[string]*Aliases{},
	}
	var l fault.List
	for _, s := range all {
		for other, module := range s.Modules {
			if set.Module(module) == nil {
				l = append(
					l,
					fault.New(
						fault.Invalid,
						"aliases: modules: %s: there is no module %q",
						other,
						module,
					),
				)
			}
			if set.Module(other) == nil { // a real module is never hidden
				x.modules[other] = module
			}
		}
		for other, rpc := range s.RPCs {
			module, _ := splitPrefix(other)
			if set.RPC(module, rpc) == nil {
				l = append(
					l,
					fault.New(
						fault.Invalid,
						"aliases: rpcs: %s: there is no rpc %q in module %q",
						other,
						rpc,
						module,
					),
				)
			}
			x.rpcs[other] = rpc
		}
		for name, a := range s.Inputs {
			l = append(l, x.addInput(set, name, a)...)
		}
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *AliasIndex) addInput(set *Set, name string, a Aliases) fault.List {
	module, rpc := splitPrefix(name)
	if rpc != "*" {
		if set.RPC(module, rpc) == nil {
			return fault.List{fault.New(fault.Invalid, "aliases: inputs: there is no rpc %q", name)}
		}
		x.inputs[name] = a.mergeOver(x.inputs[name])
		return nil
	}
	m := set.Module(module)
	if m == nil {
		return fault.List{fault.New(
			fault.Invalid,
			"aliases: inputs: there is no module %q",
			module,
		)}
	}
	for _, r := range m.RPCs {
		full := module + ":" + r.Name
		if have := x.inputs[full]; have != nil {
			x.inputs[full] = have.mergeOver(&a)
		} else {
			x.inputs[full] = &a
		}
	}
	return nil
}

// mergeOver merges a with what it goes before.
func (a Aliases) mergeOver(below *Aliases) *Aliases {
	if below == nil {
		return &a
	}
	out := Aliases{
		Members: maps.Clone(below.Members),
		Values:  maps.Clone(below.Values),
		Trim:    a.Trim || below.Trim,
	}
	if out.Members == nil {
		out.Members = map[string]string{}
	}
	if out.Values == nil {
		out.Values = map[string]map[string]string{}
	}
	maps.Copy(out.Members, a.Members)
	maps.Copy(out.Values, a.Values)
	out.Unwrap = slices.Concat(below.Unwrap, a.Unwrap)
	out.Wrap = slices.Concat(below.Wrap, a.Wrap)
	return &out
}

// Resolve returns the module and rpc that two names of a request stand for, and
// the aliases of the rpc's input, nil for none.
func (x *AliasIndex) Resolve(module, rpc string) (string, string, *Aliases) {
	if x == nil {
		return module, rpc, nil
	}
	if m, ok := x.modules[module]; ok {
		module = m
	}
	if len(x.rpcs) > 0 {
		if r, ok := x.rpcs[module+":"+rpc]; ok {
			rpc = r
		}
	}
	if len(x.inputs) == 0 {
		return module, rpc, nil
	}
	return module, rpc, x.inputs[module+":"+rpc]
}

// Module returns the module that a name of a request stands for.
func (x *AliasIndex) Module(name string) string {
	if x != nil {
		if m, ok := x.modules[name]; ok {
			return m
		}
	}
	return name
}

// Names returns the other names of a module, sorted.
func (x *AliasIndex) Names(module string) []string {
	if x == nil {
		return nil
	}
	return keysOf(x.modules, module, "")
}

// RPCNames returns the other names of an rpc of a module, sorted, without the module.
func (x *AliasIndex) RPCNames(module, rpc string) []string {
	if x == nil {
		return nil
	}
	return keysOf(x.rpcs, rpc, module+":")
}

// keysOf lists the keys with a prefix that have a value, without the prefix.
func keysOf(m map[string]string, value, prefix string) []string {
	var out []string
	for k, v := range m {
		if v == value && len(k) > len(prefix) && k[:len(prefix)] == prefix {
			out = append(out, k[len(prefix):])
		}
	}
	slices.Sort(out)
	return out
}
