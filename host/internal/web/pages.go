package web

import (
	"slices"
	"strings"

	"ctl.internal/host/internal/present"
	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
)

// page describes what the web console shows of a plugin by its YANG modules alone.
type page struct {
	Plugin     string      `json:"plugin"`
	Tables     []table     `json:"tables"`
	Operations []operation `json:"operations"`
	Streams    []string    `json:"streams"`
}

// table is a list of a data tree, or of an output.
type table struct {
	Title   string   `json:"title"`
	Help    string   `json:"help,omitempty"`
	Tree    string   `json:"tree,omitempty"` // module:node, where it is read
	Path    []string `json:"path"`           // names of the nodes down to the list; of a tree with its top
	Columns []column `json:"columns"`
}

// column is a column of a table: a leaf of its list, or a key of a list above it.
type column struct {
	present.Column

	Above int        `json:"above,omitempty"` // so many lists up
	Ref   *reference `json:"ref,omitempty"`
}

// reference is where the values of a leafref are shown.
type reference struct {
	Plugin string `json:"plugin"`
	Tree   string `json:"tree"`
	Path   string `json:"path"` // of the list, as in its table, with slashes
	Key    string `json:"key"`
}

// operation is an RPC.
type operation struct {
	Module   string   `json:"module"`
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Help     string   `json:"help,omitempty"`
	ReadOnly bool     `json:"readOnly,omitempty"`
	Confirm  string   `json:"confirm,omitempty"`
	Fields   []field  `json:"fields"`
	Values   []column `json:"values"` // leaves of its output
	Tables   []table  `json:"tables"` // lists of its output
}

// field is a member of an input.
type field struct {
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	Help     string     `json:"help,omitempty"`
	Type     string     `json:"type"` // text, number, big, boolean, empty, choice, json
	Several  bool       `json:"several,omitempty"`
	Values   []string   `json:"values,omitempty"`
	Pattern  string     `json:"pattern,omitempty"`
	Min      string     `json:"min,omitempty"`
	Max      string     `json:"max,omitempty"`
	Shortest int        `json:"shortest,omitempty"`
	Longest  int        `json:"longest,omitempty"`
	Default  string     `json:"default,omitempty"`
	Required bool       `json:"required,omitempty"`
	Secret   bool       `json:"secret,omitempty"`
	Unit     string     `json:"unit,omitempty"`
	Ref      *reference `json:"ref,omitempty"`
}

// listPages describes the pages of the plugins whose modules are shown.
func listPages(set *yang.Set, shown func(string) bool, streams []openapi.Stream) []*page {
	byPlugin := map[string]*page{}
	out := []*page{}
	for _, m := range set.Modules() {
		if !m.Implemented || !shown(m.Name) || len(m.Data)+len(m.RPCs) == 0 {
			continue
		}
		p := byPlugin[m.Source]
		if p == nil {
			p = &page{
				Plugin:     m.Source,
				Tables:     []table{},
				Operations: []operation{},
				Streams:    []string{},
			}
			byPlugin[m.Source] = p
			out = append(out, p)
		}
		for _, n := range m.Data {
			if n.Module == m.Name {
				p.Tables = appendTables(p.Tables, set, n, n.QName(), nil, nil)
			}
		}
		for _, r := range m.RPCs {
			p.Operations = append(p.Operations, describeOperation(set, r))
		}
	}
	for _, s := range streams {
		for _, p := range out {
			if s.Description == "Events of "+p.Plugin+"." {
				p.Streams = append(p.Streams, s.Name)
			}
		}
	}
	slices.SortFunc(out, func(a, b *page) int { return strings.Compare(a.Plugin, b.Plugin) })
	return out
}

// appendTables appends the tables of the lists at and below a node; above are the lists that it is in.
func appendTables(
	out []table,
	set *yang.Set,
	n *yang.Node,
	tree string,
	path []string,
	above []*yang.Node,
) []table {
	if len(path) >= deepest || n.IsLeaf() {
		return out
	}
	path = append(path[:len(path):len(path)], n.Name)
	if n.Kind == yang.List {
		out = append(out, table{
			Title:   present.TitleOf(n),
			Help:    n.Description,
			Tree:    tree,
			Path:    path,
			Columns: columnsOf(set, n, above),
		})
		above = append(above[:len(above):len(above)], n)
	}
	for _, c := range n.Members() {
		out = appendTables(out, set, c, tree, path, above)
	}
	return out
}

// columnsOf are the columns of a list: the keys of the lists above it, and its own.
func columnsOf(set *yang.Set, list *yang.Node, above []*yang.Node) []column {
	out := []column{}
	for i, a := range above {
		for _, k := range a.Keys {
			c := describeColumn(set, k)
			c.Above = len(above) - i
			c.Title = present.TitleOf(a)
			if len(a.Keys) > 1 {
				c.Title += " " + present.TitleOf(k)
			}
			out = append(out, c)
		}
	}
	for _, n := range present.ColumnsOf(list) {
		out = append(out, describeColumn(set, n))
	}
	return out
}

func describeColumn(set *yang.Set, n *yang.Node) column {
	return column{Column: present.ColumnOf(n), Ref: referenceOf(set, n)}
}

// referenceOf is the list whose entry a leafref names; nil if it names something else.
func referenceOf(set *yang.Set, n *yang.Node) *reference {
	if n.Type == nil || n.Type.Base != yang.Leafref || n.Type.Target == nil {
		return nil
	}
	var path []string
	top := n.Type.Target
	for at := n.Type.Target.DataParent(); at != nil && at.Kind != yang.Root; at = at.DataParent() {
		path = append(path, at.Name)
		top = at
	}
	m := set.Module(top.Module)
	if m == nil || len(path) == 0 {
		return nil
	}
	slices.Reverse(path)
	return &reference{
		Plugin: m.Source,
		Tree:   top.QName(),
		Path:   strings.Join(path, "/"),
		Key:    n.Type.Target.Name,
	}
}

func describeOperation(set *yang.Set, r *yang.RPC) operation {
	o := operation{
		Module:   r.Module,
		Name:     r.Name,
		Title:    r.Annotations.Title,
		Help:     r.Description,
		ReadOnly: r.Annotations.ReadOnly,
		Confirm:  r.Annotations.Confirm,
		Fields:   []field{},
		Values:   []column{},
		Tables:   []table{},
	}
	if o.Title == "" {
		o.Title = r.Name
	}
	for _, n := range r.Input.Members() {
		o.Fields = append(o.Fields, describeField(set, n))
	}
	for _, n := range r.Output.Members() {
		if n.IsLeaf() {
			o.Values = append(o.Values, describeColumn(set, n))
		}
		o.Tables = appendTables(o.Tables, set, n, "", nil, nil)
	}
	return o
}

func describeField(set *yang.Set, n *yang.Node) field {
	f := field{
		Name:     n.Name,
		Title:    present.TitleOf(n),
		Help:     n.Description,
		Type:     "json",
		Required: n.Mandatory || n.Min > 0,
		Secret:   n.Secret(),
		Several:  n.Kind == yang.LeafList,
		Default:  strings.Join(n.Default, ","),
		Ref:      referenceOf(set, n),
	}
	if !n.IsLeaf() {
		return f
	}
	f.Unit = present.ColumnOf(n).Unit
	t := n.Type.Final()
	f.Type, f.Values = "text", nil
	switch t.Base {
	case yang.Boolean:
		f.Type = "boolean"
	case yang.Empty:
		f.Type = "empty"
	case yang.Enumeration, yang.Identityref:
		f.Type, f.Values = "choice", t.Names
	case yang.String:
		if len(t.Patterns) == 1 {
			f.Pattern = t.Patterns[0]
		}
		if low, high, ok := t.LengthBounds(); ok && high < 1<<31 {
			f.Shortest, f.Longest = int(low), int(high)
		}
	}
	switch low, high := t.Bounds(); {
	case t.Base == yang.Int64 || t.Base == yang.Uint64: // more than a browser counts exactly
		f.Type = "big"
	case low != "":
		f.Type, f.Min, f.Max = "number", low, high
	}
	return f
}
