package present

import (
	"cmp"
	"slices"
	"strings"

	"ctl.internal/internal/yang"
)

// ColumnOf is the column that a leaf of a schema is.
func ColumnOf(n *yang.Node) Column {
	c := Column{Key: n.Name, Title: n.Name, Unit: n.Units}
	if a := n.Annotations; a != nil {
		c.Title = cmp.Or(a.Title, c.Title)
		c.Unit = cmp.Or(a.Unit, c.Unit)
		c.Format, c.Max = a.Format, a.Width
	}
	if t := n.Type; t != nil && n.Kind == yang.Leaf {
		low, _ := t.Final().Bounds()
		c.Right = low != "" || t.Final().Base == yang.Decimal64
	}
	return c
}

// ColumnsOf are the leaves that the table of a list shows: those that are columns, in their order; if none is, all of them.
func ColumnsOf(list *yang.Node) (out []*yang.Node) {
	var leaves []*yang.Node
	for _, n := range list.Members() {
		if !n.IsLeaf() {
			continue
		}
		leaves = append(leaves, n)
		if n.Annotations != nil && n.Annotations.Column > 0 {
			out = append(out, n)
		}
	}
	if out == nil {
		return leaves
	}
	slices.SortStableFunc(out, func(a, b *yang.Node) int {
		return cmp.Compare(a.Annotations.Column, b.Annotations.Column)
	})
	return out
}

// TitleOf is the heading of a node.
func TitleOf(n *yang.Node) string {
	if n.Annotations != nil && n.Annotations.Title != "" {
		return n.Annotations.Title
	}
	return n.Name
}

// TablesOf are the tables of the lists that a value of a container, or of an output, has, and a table with the titles and
// values of its leaves. Containers are walked through.
func TablesOf(n *yang.Node, value map[string]any) (tables []Table, values Table) {
	values.Columns = []Column{{Key: "name", Title: "Name"}, {Key: "value", Title: "Value"}}
	for _, c := range n.Members() {
		v := memberOf(c, value)
		switch {
		case c.Kind == yang.List:
			entries, _ := v.([]any)
			tables = append(tables, tableOfList(c, entries))
		case v == nil:
		case c.IsLeaf():
			values.Rows = append(values.Rows, []any{TitleOf(c), ColumnOf(c).format(v)})
		default:
			if inner, ok := v.(map[string]any); ok && c.Kind == yang.Container {
				more, leaves := TablesOf(c, inner)
				tables, values.Rows = append(tables, more...), append(values.Rows, leaves.Rows...)
				continue
			}
			values.Rows = append(values.Rows, []any{TitleOf(c), textOf(v)})
		}
	}
	return tables, values
}

func tableOfList(list *yang.Node, entries []any) Table {
	t := Table{
		Title: TitleOf(list),
		Rows:  [][]any{},
		Empty: "No entries",
	}
	columns := ColumnsOf(list)
	for _, n := range columns {
		t.Columns = append(t.Columns, ColumnOf(n))
	}
	for _, one := range entries {
		entry, _ := one.(map[string]any)
		row := make([]any, len(columns))
		for i, n := range columns {
			row[i] = memberOf(n, entry)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// memberOf is the value of a node, whose name may have its module before it.
func memberOf(n *yang.Node, value map[string]any) any {
	if v, ok := value[n.Name]; ok {
		return v
	}
	return value[n.QName()]
}

// Values are what a leaf has in a document with the node top, in which it is or which it is itself; members may have their modules.
func Values(top, leaf *yang.Node, document any) (out []string) {
	steps := []*yang.Node{leaf}
	for n := leaf; n != top && n.DataParent() != nil; n = n.DataParent() {
		steps = append(steps, n.DataParent())
	}
	slices.Reverse(steps)
	at := []any{document}
	for _, n := range steps {
		var next []any
		for _, one := range at {
			o, _ := one.(map[string]any)
			switch v := memberOf(n, o).(type) {
			case nil:
			case []any:
				next = append(next, v...)
			default:
				next = append(next, v)
			}
		}
		at = next
	}
	for _, v := range at {
		out = append(out, textOf(v))
	}
	slices.SortFunc(out, compareNaturally)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return strings.TrimSpace(s) == "" })
}
