package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is a result of rows. As text the columns are aligned, folded where the terminal
// is narrower than the table, and where even that is not enough each row is shown by
// itself; as JSON it is an array of objects whose members are the columns' keys.
type Table struct {
	Columns []Column
	Rows    [][]any
	Empty   string // text when there are no rows
}

// Column is a column of a Table.
type Column struct {
	Title string // heading in text
	Key   string // member name in JSON
	Max   int    // longest cell in text, cut with an ellipsis; 0 = no limit
	Right bool   // aligned right, for numbers
}

// Add appends a row; the cells are in the order of the columns.
func (t *Table) Add(cells ...any) {
	t.Rows = append(t.Rows, cells)
}

// List returns a cell of several values: as text with between standing between them,
// as JSON an array, which is empty for nil values.
func List[T any](between string, values []T) any {
	return list[T]{between, values}
}

type list[T any] struct {
	between string
	values  []T
}

// String is the cell as text.
func (l list[T]) String() string {
	texts := make([]string, len(l.values))
	for i, v := range l.values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, l.between)
}

// MarshalJSON writes the cell as JSON.
func (l list[T]) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]T{}, l.values...))
}

// Emit writes a result: a *Table or Table aligned or as JSON; anything else as
// JSON when that was asked for, else with text (which may be nil for %v).
func (in *Invocation) Emit(v any, text func() string) error {
	if t, ok := v.(*Table); ok {
		v = *t
	}
	if in.Format == "json" {
		enc := json.NewEncoder(in.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if t, ok := v.(Table); ok && in.Described {
			v = map[string]any{"ctl-table": t.describe()}
		}
		return enc.Encode(v)
	}
	var out string
	switch t, ok := v.(Table); {
	case text != nil:
		out = text()
	case ok:
		out = t.formatText(in.Width)
	default:
		out = fmt.Sprintln(v)
	}
	_, err := fmt.Fprint(in.Stdout, out)
	return err
}

// Printf writes text to the command's output.
func (in *Invocation) Printf(format string, args ...any) {
	fmt.Fprintf(in.Stdout, format, args...)
}

// MarshalJSON writes the rows as an array of objects; a cell that is nil is left out.
func (t Table) MarshalJSON() ([]byte, error) {
	out := make([]map[string]any, 0, len(t.Rows))
	for _, row := range t.Rows {
		o := make(map[string]any, len(row))
		for i, c := range t.Columns {
			if i < len(row) && row[i] != nil {
				o[c.Key] = row[i]
			}
		}
		out = append(out, o)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(out)
	return b.Bytes(), err
}

// described is a table with its columns, as the console reads it.
type described struct {
	Columns []describedColumn `json:"columns"`
	Rows    [][]any           `json:"rows"`
	Empty   string            `json:"empty,omitempty"`
}

type describedColumn struct {
	Title string `json:"title"`
	Key   string `json:"key"`
	Max   int    `json:"max,omitempty"`
	Right bool   `json:"right,omitempty"`
}

func (t Table) describe() described {
	d := described{Rows: append([][]any{}, t.Rows...), Empty: t.Empty}
	for _, c := range t.Columns {
		d.Columns = append(d.Columns, describedColumn(c))
	}
	return d
}

// formatText is the table for a terminal of so many columns, 0 = as wide as it gets.
func (t Table) formatText(columns int) string {
	if len(t.Rows) == 0 {
		if t.Empty == "" {
			return ""
		}
		return t.Empty + "\n"
	}
	width := make([]int, len(t.Columns))
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i], width[i] = c.Title, utf8.RuneCountInString(c.Title)
	}
	cells := make([][]string, len(t.Rows))
	for r, row := range t.Rows {
		cells[r] = make([]string, len(t.Columns))
		for i, c := range t.Columns {
			if i < len(row) && row[i] != nil {
				cells[r][i] = cutCell(keepPrintable(fmt.Sprint(row[i])), c.Max)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cells[r][i]))
		}
	}
	around, fits := t.narrowColumns(width, titles, cells, columns)
	if !fits {
		return t.formatCards(titles, cells, columns)
	}
	rule := lines
	if columns == 0 {
		rule = plain
	}
	if around == "" {
		rule.down, rule.cross = "│", "┼"
	}
	var b strings.Builder
	t.writeRow(&b, titles, width, rule)
	for i := range width {
		if i > 0 {
			b.WriteString(rule.cross)
		}
		b.WriteString(strings.Repeat(rule.across, width[i]))
	}
	b.WriteByte('\n')
	for _, row := range cells {
		t.writeRow(&b, row, width, rule)
	}
	return b.String()
}

// rule is what stands between cells: lines on a terminal; in a pipe or a file what cut -d'|' and awk divide at.
type rule struct{ down, across, cross string }

var (
	lines = rule{" │ ", "─", "─┼─"}
	plain = rule{" | ", "-", "-+-"}
)

// writeRow writes the cells, folded to the widths of their columns, on as many lines as the
// longest needs.
func (t Table) writeRow(b *strings.Builder, cells []string, width []int, r rule) {
	folded, lines := make([][]string, len(cells)), 1
	for i, cell := range cells {
		folded[i] = foldCell(cell, width[i])
		lines = max(lines, len(folded[i]))
	}
	for l := range lines {
		part := make([]string, len(cells))
		for i := range cells {
			if l < len(folded[i]) {
				part[i] = folded[i][l]
			}
		}
		t.writeLine(b, part, width, r)
	}
}

func (t Table) writeLine(b *strings.Builder, cells []string, width []int, r rule) {
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(r.down)
		}
		pad := strings.Repeat(" ", max(width[i]-utf8.RuneCountInString(cell), 0))
		switch {
		case t.Columns[i].Right:
			b.WriteString(pad + cell)
		case i == len(cells)-1:
			b.WriteString(cell)
		default:
			b.WriteString(cell + pad)
		}
	}
	b.WriteByte('\n')
}

// keepPrintable keeps a device's text from moving the cursor or colouring the screen.
func keepPrintable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
}

// CSVCell is the text of a cell of CSV: what a spreadsheet would run as a formula, because it begins with = + - @, a tab or a
// carriage return and is no number, gets a ' before it.
func CSVCell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// String is the table as text, for a result that has more than a table.
func (t Table) String() string { return t.formatText(0) }
