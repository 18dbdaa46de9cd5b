package yang

import "strings"

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

// member returns the name that an unknown name stands for below n, "" if none.
func (a *Aliases) member(n *Node, name string) string {
	if a == nil {
		return ""
	}
	if a.Trim {
		if name = strings.TrimSpace(name); n.index[name] != nil {
			return name
		}
	}
	if _, bare := prefixed(name); a.Members[name] == "" {
		name = bare
	}
	return a.Members[name]
}

// value returns what a value that does not fit stands for.
func (a *Aliases) value(n *Node, text string) (string, bool) {
	if a == nil || a.Values == nil {
		return "", false
	}
	v, ok := a.Values[n.Name][strings.TrimSpace(text)]
	return v, ok
}

// unwrap makes {"x": v} of a leaf-list entry v.
func (a *Aliases) unwrap(e *Data, n *Node) {
	if a == nil || e.kind != jObject || e.first == nil || e.first.next != nil || !contains(a.Unwrap, n.Name) {
		return
	}
	if c := e.first; c.kind >= jString && c.kind <= jFalse {
		e.kind, e.text, e.first, e.last = c.kind, c.text, nil, nil
	}
}

func (a *Aliases) wraps(n *Node) bool { return a != nil && contains(a.Wrap, n.Name) }

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
