// Package present lays out rows: which columns, in which order, which rows, and as a table, JSON, YAML or CSV. It is the
// only place that does; the tables of the controller, of plugins and of YANG schemas go through it.
package present

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// Column is one column of a Table.
type Column struct {
	Key    string `json:"key"` // name of the member in data
	Title  string `json:"title"`
	Unit   string `json:"unit,omitempty"`
	Format string `json:"format,omitempty"` // one of ctl:format
	Max    int    `json:"max,omitempty"`    // longest cell of a text table; 0 = no limit
	Right  bool   `json:"right,omitempty"`
}

// Table is rows with their columns. A cell is what JSON gives: nil, bool, string, json.Number, list or object.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
	Title   string   `json:"title,omitempty"`
	Empty   string   `json:"empty,omitempty"` // shown in place of a table without rows
}

// Asked is what somebody asks to see of a table.
type Asked struct {
	Columns string // keys or titles, separated by commas; empty = all
	Sort    string // the same; a minus before one is from high to low
	Where   string // a condition; see parseCondition
	Format  string // a member of Formats; "text" is the command's own text if nothing else is asked
}

// Formats are the forms of output.
var Formats = []string{"text", "json", "table", "yaml", "csv"}

// Selects reports whether rows or columns are selected or ordered.
func (a Asked) Selects() bool { return a.Columns != "" || a.Sort != "" || a.Where != "" }

// Needed reports whether the presenter is needed for what is asked: a command writes text and JSON by itself.
func (a Asked) Needed() bool {
	return a.Selects() || !slices.Contains([]string{"", "text", "json"}, a.Format)
}

// Read reads the one value that a command has written as JSON.
func Read(output []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(output))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Unsupported, "the command shows nothing that can be laid out")
	}
	if err != nil {
		return nil, fault.New(fault.Unsupported,
			"the command shows text, which cannot be laid out; leave --format and the other options of tables away")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Unsupported,
			"the command shows several results, which are no table; leave the options of tables away")
	}
	return v, nil
}

// TableOf is the table that a value is: one that is described, or an array of objects; false for anything else.
func TableOf(v any) (Table, bool) {
	switch v := v.(type) {
	case map[string]any:
		if d, ok := v["ctl-table"]; ok && len(v) == 1 {
			return describedTable(d)
		}
	case []any:
		return tableOfObjects(v)
	}
	return Table{}, false
}

func describedTable(v any) (Table, bool) {
	text, err := json.Marshal(v)
	if err != nil {
		return Table{}, false
	}
	var t Table
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&t) != nil {
		return Table{}, false
	}
	for i, row := range t.Rows {
		for len(row) < len(t.Columns) {
			row = append(row, nil)
		}
		t.Rows[i] = row[:len(t.Columns)]
	}
	return t, true
}

// tableOfObjects is the table of a command that writes its rows without columns: these are the members, by name.
func tableOfObjects(list []any) (Table, bool) {
	keys := map[string]bool{}
	for _, one := range list {
		o, ok := one.(map[string]any)
		if !ok {
			return Table{}, false
		}
		for k := range o {
			keys[k] = true
		}
	}
	var t Table
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		t.Columns = append(t.Columns, Column{Key: k, Title: k})
	}
	for _, one := range list {
		o := one.(map[string]any)
		row := make([]any, len(t.Columns))
		for i, c := range t.Columns {
			row[i] = o[c.Key]
		}
		t.Rows = append(t.Rows, row)
	}
	return t, true
}

// Select is the table with the rows and columns that are asked for, in the order that is asked for.
func (t Table) Select(a Asked) (Table, error) {
	if len(t.Columns) == 0 {
		return t, nil // no rows of a command that describes no columns: nothing can be wrong with a name
	}
	out := t
	if a.Where != "" {
		holds, err := t.parseCondition(a.Where)
		if err != nil {
			return t, err
		}
		out.Rows = nil
		for _, row := range t.Rows {
			if holds(row) {
				out.Rows = append(out.Rows, row)
			}
		}
	}
	if err := out.sortRows(a.Sort); err != nil {
		return t, err
	}
	return out.pickColumns(a.Columns)
}

// sortColumn is a column that rows are sorted by.
type sortColumn struct {
	at   int
	down bool // from high to low
}

func (t Table) sortColumns(by string) (out []sortColumn, err error) {
	for _, name := range splitNames(by) {
		rest, down := strings.CutPrefix(name, "-")
		i, err := t.column("--sort", rest)
		if err != nil {
			return nil, err
		}
		out = append(out, sortColumn{i, down})
	}
	return out, nil
}

func (t *Table) sortRows(by string) error {
	columns, err := t.sortColumns(by)
	if err != nil || columns == nil {
		return err
	}
	type keyed struct {
		row  []any
		keys []sortKey
	}
	rows := make([]keyed, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = keyed{row, make([]sortKey, len(columns))}
		for j, c := range columns {
			rows[i].keys[j] = sortKeyOf(row[c.at])
		}
	}
	slices.SortStableFunc(rows, func(a, b keyed) int {
		for j, column := range columns {
			x, y := a.keys[j], b.keys[j]
			if x.none || y.none { // what has no value is last, in either order
				if x.none != y.none {
					return boolOrder(x.none)
				}
				continue
			}
			c := x.compare(y)
			if column.down {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	t.Rows = make([][]any, len(rows))
	for i, r := range rows {
		t.Rows[i] = r.row
	}
	return nil
}

func boolOrder(after bool) int {
	if after {
		return 1
	}
	return -1
}

func (t Table) pickColumns(names string) (Table, error) {
	if names == "" {
		return t, nil
	}
	var at []int
	out := Table{Empty: t.Empty}
	for _, name := range splitNames(names) {
		i, err := t.column("--columns", name)
		if err != nil {
			return t, err
		}
		at = append(at, i)
		out.Columns = append(out.Columns, t.Columns[i])
	}
	if at == nil {
		return t, fault.At(fault.Invalid, "--columns", "no column is named; there are %s", t.names())
	}
	for _, row := range t.Rows {
		cells := make([]any, len(at))
		for i, from := range at {
			cells[i] = row[from]
		}
		out.Rows = append(out.Rows, cells)
	}
	return out, nil
}

func splitNames(text string) (out []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// column finds a column by its key or title, whatever their case.
func (t Table) column(option, name string) (int, error) {
	for _, same := range []func(c Column) bool{
		func(c Column) bool { return c.Key == name || c.Title == name },
		func(c Column) bool { return strings.EqualFold(c.Key, name) || strings.EqualFold(c.Title, name) },
	} {
		if i := slices.IndexFunc(t.Columns, same); i >= 0 {
			return i, nil
		}
	}
	keys := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		keys[i] = c.Key
	}
	return 0, fault.At(fault.Unknown, option, "there is no column %q%s; there are %s",
		name, nearest.Hint(name, keys), t.names())
}

// names are the keys of the columns, for messages.
func (t Table) names() string {
	keys := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		keys[i] = c.Key
	}
	return strings.Join(keys, ", ")
}

// textOf is a cell as text, without its format.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = textOf(one)
		}
		return strings.Join(texts, " ")
	case map[string]any:
		b, _ := json.Marshal(v) // what came from JSON goes back
		return string(b)
	}
	return fmt.Sprint(v)
}
