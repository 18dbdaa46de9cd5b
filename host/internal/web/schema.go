package web

import (
	"strings"

	"ctl.internal/internal/yang"
)

// module is one module for the YANG page.
type module struct {
	Name        string `json:"name"`
	Revision    string `json:"revision"`
	Namespace   string `json:"namespace"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source"`
	Data        []node `json:"data,omitempty"`
	RPCs        []node `json:"rpcs,omitempty"`
	Notices     []node `json:"notifications,omitempty"`
	Text        string `json:"text"`
}

// node is one schema node with what is below it.
type node struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Type        string   `json:"type,omitempty"`
	Range       string   `json:"range,omitempty"`
	Values      []string `json:"values,omitempty"`
	Keys        []string `json:"keys,omitempty"`
	Default     string   `json:"default,omitempty"`
	Mandatory   bool     `json:"mandatory,omitempty"`
	ReadOnly    bool     `json:"readOnly,omitempty"`
	Secret      bool     `json:"secret,omitempty"` // it is written and not shown
	Description string   `json:"description,omitempty"`
	Children    []node   `json:"children,omitempty"`
}

// deepest bounds the tree of a module that nests without end.
const deepest = 40

func listModules(set *yang.Set, shown func(string) bool) []module {
	out := []module{}
	for _, m := range set.Modules() {
		if !m.Implemented || !shown(m.Name) {
			continue
		}
		v := module{
			Name:        m.Name,
			Revision:    m.Revision,
			Namespace:   m.Namespace,
			Description: m.Description,
			Source:      m.Source,
			Text:        m.Text,
		}
		for _, n := range m.Data {
			v.Data = append(v.Data, nodeTree(n, deepest, true))
		}
		for _, n := range m.Notifications {
			v.Notices = append(v.Notices, nodeTree(n, deepest, false))
		}
		for _, r := range m.RPCs {
			rpc := node{
				Name:        r.Name,
				Kind:        "rpc",
				Description: r.Description,
			}
			for _, io := range []struct {
				name string
				n    *yang.Node
			}{{"input", r.Input}, {"output", r.Output}} {
				if io.n != nil && len(io.n.Members()) > 0 {
					rpc.Children = append(
						rpc.Children,
						node{
							Name:     io.name,
							Kind:     io.name,
							Children: childNodes(io.n, deepest, false),
						},
					)
				}
			}
			v.RPCs = append(v.RPCs, rpc)
		}
		out = append(out, v)
	}
	return out
}

// nodeTree shows a node and what is below it; stored says that it is data of a datastore,
// which alone is either configuration or state.
func nodeTree(n *yang.Node, depth int, stored bool) node {
	v := node{
		Name:        n.Name,
		Kind:        n.Kind.String(),
		Default:     strings.Join(n.Default, ", "),
		Mandatory:   n.Mandatory,
		ReadOnly:    stored && !n.Config,
		Secret:      n.Secret(),
		Description: n.Description,
	}
	for _, k := range n.Keys {
		v.Keys = append(v.Keys, k.Name)
	}
	if n.Type != nil {
		v.Type, v.Values = n.Type.Base.String(), n.Type.Names
		if v.Range = n.Type.Range(); v.Range == "" {
			v.Range = n.Type.Length()
		}
	}
	if depth > 0 {
		v.Children = childNodes(n, depth-1, stored)
	}
	return v
}

func childNodes(n *yang.Node, depth int, stored bool) []node {
	var out []node
	for _, c := range n.Members() {
		out = append(out, nodeTree(c, depth, stored))
	}
	return out
}
