package commands

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Narrowest columns of a table that is folded: the last one, which is mostly prose, goes
// first and to the first of these; then all do, to the second.
const (
	narrowLast = 24
	narrowAny  = 10
)

// narrow takes from the widths of the columns until the table fits into so many, and
// reports whether it does then. Numbers are not folded.
func (t Table) narrow(width []int, columns int) bool {
	n := len(width)
	over := func() int {
		sum := 3 * (n - 1)
		for _, w := range width {
			sum += w
		}
		return sum - columns
	}
	if columns <= 0 || n == 0 || over() <= 0 {
		return true
	}
	if last := n - 1; !t.Columns[last].Right {
		width[last] = max(min(width[last], narrowLast), width[last]-over())
	}
	for limit := slices.Max(width) - 1; over() > 0 && limit >= narrowAny; limit-- {
		for i := range width {
			if width[i] > limit && over() > 0 && !t.Columns[i].Right {
				width[i] = limit
			}
		}
	}
	return over() <= 0
}

// cards shows a table that is too wide for the terminal a row at a time, a line for
// each cell that has something in it.
func (t Table) cards(titles []string, cells [][]string, columns int) string {
	widest := 0
	for _, title := range titles {
		widest = max(widest, utf8.RuneCountInString(title))
	}
	var b strings.Builder
	for r, row := range cells {
		if r > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range row {
			head := titles[i]
			for _, line := range fold(cell, max(columns-widest-2, narrowAny)) {
				if line != "" {
					b.WriteString(head + strings.Repeat(" ", widest-utf8.RuneCountInString(head)+2) + line + "\n")
				}
				head = ""
			}
		}
	}
	return b.String()
}

// fold divides a cell into lines of at most width characters, where there is one after a
// blank or a mark that divides a name.
func fold(cell string, width int) []string {
	var lines []string
	for rest := []rune(cell); ; {
		if len(rest) <= width || width < 1 {
			return append(lines, string(rest))
		}
		at := width
		for i := width; i > width/3; i-- {
			if rest[i] == ' ' || strings.ContainsRune(" -/,:;=", rest[i-1]) {
				at = i
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
}

// cut shortens a cell to limit characters, with an ellipsis at the end; 0 = no limit.
func cut(s string, limit int) string {
	if limit <= 0 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	r := []rune(s)
	return string(r[:limit-1]) + "…"
}
