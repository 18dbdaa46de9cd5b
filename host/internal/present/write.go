package present

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"

	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Write writes what a command has shown as JSON in the form that is asked for; width is that of the terminal, 0 = none.
func Write(w io.Writer, output []byte, a Asked, width int) error {
	v, err := Read(output)
	if err != nil {
		return err
	}
	t, isTable := TableOf(v)
	if !isTable {
		if a.Selects() || a.Format == "table" || a.Format == "csv" {
			return fault.New(fault.Unsupported,
				"the command shows no table; it can be shown by --format text, json or yaml")
		}
		return console.WriteYAML(w, console.YAML(v))
	}
	if t, err = t.Select(a); err != nil {
		return err
	}
	return t.Write(w, a.Format, width)
}

// Write writes the table in one of the Formats.
func (t Table) Write(w io.Writer, format string, width int) error {
	switch format {
	case "json":
		return t.writeJSON(w)
	case "yaml":
		return console.WriteYAML(w, t.yamlOf())
	case "csv":
		return t.writeCSV(w)
	}
	out := &commands.Table{Empty: t.Empty}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, commands.Column{
			Title: c.Title,
			Key:   c.Key,
			Max:   c.Max,
			Right: c.Right,
		})
	}
	for _, row := range t.Rows {
		cells := make([]any, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = t.Columns[i].format(v)
			}
		}
		out.Add(cells...)
	}
	in := commands.Invocation{Stdout: w, Width: width}
	return in.Emit(out, nil)
}

// writeJSON writes objects whose members have the order of the columns.
func (t Table) writeJSON(w io.Writer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('[')
	for r, row := range t.Rows {
		if r > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		first := true
		for i, v := range row {
			if v == nil {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			if err := enc.Encode(t.Columns[i].Key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := enc.Encode(v); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err := out.WriteTo(w)
	return err
}

func (t Table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	head := make([]string, len(t.Columns))
	for i, col := range t.Columns {
		head[i] = commands.CSVCell(col.Key)
	}
	_ = c.Write(head) // Error reports all writes
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = commands.CSVCell(textOf(v))
		}
		_ = c.Write(cells)
	}
	c.Flush()
	return c.Error()
}

// yamlOf is the table as YAML: objects whose members have the order of the columns.
func (t Table) yamlOf() *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, row := range t.Rows {
		o := &yaml.Node{Kind: yaml.MappingNode}
		for i, cell := range row {
			if cell != nil {
				o.Content = append(o.Content, console.YAML(t.Columns[i].Key), console.YAML(cell))
			}
		}
		if o.Content == nil {
			o.Style = yaml.FlowStyle // {}
		}
		n.Content = append(n.Content, o)
	}
	if n.Content == nil {
		n.Style = yaml.FlowStyle // []
	}
	return n
}
