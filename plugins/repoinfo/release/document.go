package release

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ctl.internal/plugins/repoinfo/report"
)

// document is an answer as people read it, before it is written in one of the forms.
type document struct {
	Title    string
	Figures  []figure
	Notes    []string
	Sections []section
}

// figure is a number of the summary.
type figure struct {
	Name  string
	Value int
}

// section is a part of a document: a table if it has columns, else a list.
type section struct {
	Title   string
	Columns []column
	Rows    [][]cell
}

// column is one of a table.
type column struct {
	Name  string
	Right bool // numbers
}

// cell is a text, perhaps with a link.
type cell struct {
	Text string
	URL  string
}

// rowOf is a row of texts without links.
func rowOf(texts ...string) []cell {
	row := make([]cell, 0, len(texts))
	for _, text := range texts {
		row = append(row, cell{Text: text})
	}
	return row
}

// failedSection names the projects that are missing.
func failedSection(failed []report.Failed) section {
	s := section{Title: "Not compared"}
	for _, f := range failed {
		s.Rows = append(s.Rows, rowOf(f.Project+": "+f.Error))
	}
	return s
}

// formatDay is the day of a commit in UTC, empty if it has no readable date.
func formatDay(when int64) string {
	if when == 0 {
		return ""
	}
	return time.Unix(when, 0).UTC().Format(time.DateOnly)
}

// cleanText keeps what comes out of a repository on its line.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// text lays the document out for a terminal.
func (d *document) text() string {
	var b strings.Builder
	b.WriteString(cleanText(d.Title) + "\n")
	for i, f := range d.Figures {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%-26s %d\n", f.Name, f.Value)
	}
	for _, note := range d.Notes {
		b.WriteString("\n" + cleanText(note) + "\n")
	}
	for _, s := range d.Sections {
		if len(s.Rows) > 0 {
			b.WriteString("\n" + cleanText(s.Title) + "\n")
			s.writeText(&b)
		}
	}
	return b.String()
}

// maxCell is the widest column that the ones after it are aligned behind, in characters.
const maxCell = 60

func (s *section) writeText(b *strings.Builder) {
	rows := s.Rows
	if s.Columns != nil {
		var head []cell
		for _, c := range s.Columns {
			head = append(head, cell{Text: c.Name})
		}
		rows = append([][]cell{head}, rows...)
	}
	widths := s.measureColumns(rows)
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			text := cleanText(c.Text)
			blanks := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text)))
			if i < len(s.Columns) && s.Columns[i].Right {
				text = blanks + text
			} else {
				text += blanks
			}
			line.WriteString("  " + text)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// measureColumns returns the width of each column in characters.
func (s *section) measureColumns(rows [][]cell) []int {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if s.Columns != nil {
				widths[i] = max(widths[i], min(utf8.RuneCountInString(cleanText(c.Text)), maxCell))
			}
		}
	}
	return widths
}

// markdown writes the document as Markdown (CommonMark with tables).
func (d *document) markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# " + escapeMarkdown(d.Title) + "\n")
	for i, f := range d.Figures {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s: %d\n", escapeMarkdown(f.Name), f.Value)
	}
	for _, note := range d.Notes {
		b.WriteString("\n" + escapeMarkdown(note) + "\n")
	}
	for _, s := range d.Sections {
		if len(s.Rows) > 0 {
			b.WriteString("\n## " + escapeMarkdown(s.Title) + "\n\n")
			s.writeMarkdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *section) writeMarkdown(b *strings.Builder) {
	if s.Columns == nil {
		for _, row := range s.Rows {
			b.WriteString("-")
			for _, c := range row {
				b.WriteString(" " + c.markdown())
			}
			b.WriteString("\n")
		}
		return
	}
	for _, c := range s.Columns {
		b.WriteString("| " + escapeMarkdown(c.Name) + " ")
	}
	b.WriteString("|\n")
	for _, c := range s.Columns {
		if c.Right {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, row := range s.Rows {
		for _, c := range row {
			b.WriteString("| " + c.markdown() + " ")
		}
		b.WriteString("|\n")
	}
}

func (c cell) markdown() string {
	if c.URL == "" {
		return escapeMarkdown(c.Text)
	}
	return "[" + escapeMarkdown(c.Text) + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(c.URL) + ">)"
}

// escapeMarkdown keeps a text from being read as Markdown or HTML.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range cleanText(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

//go:embed document.html
var page string

// html writes the document as one page that needs nothing else: no script, no other file.
func (d *document) html(w io.Writer) error {
	t, err := template.New("document").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, d)
}

// IsTable reports whether a section has columns.
func (s section) IsTable() bool { return s.Columns != nil }

// IsNumber reports whether a column of a table is one of numbers.
func (s section) IsNumber(i int) bool {
	return i < len(s.Columns) && s.Columns[i].Right
}
