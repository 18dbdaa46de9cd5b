package commands

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// narrowColumns takes from the widths of the columns until the table fits into so many, and returns what stands on each side
// of the lines between columns then. The last column, which is mostly prose, goes first; then the widest. None becomes
// narrower than its longest word: as blanks divide words, then without the blanks around the lines, then as the marks
// of paths and lists do. Numbers are not folded.
func (t Table) narrowColumns(
	width []int,
	titles []string,
	cells [][]string,
	columns int,
) (around string, fits bool) {
	n := len(width)
	if columns <= 0 || n == 0 {
		return " ", true
	}
	over := func() int {
		sum := (1 + 2*len(around)) * (n - 1)
		for _, w := range width {
			sum += w
		}
		return sum - columns
	}
	for _, try := range []struct{ around, marks string }{{" ", ""}, {"", ""}, {"", divides}} {
		if around = try.around; over() <= 0 {
			break
		}
		least := make([]int, n)
		for i := range width {
			least[i] = t.leastWidth(i, titles, cells, try.marks)
		}
		if last := n - 1; width[last] > least[last] {
			width[last] = max(least[last], min(width[last], proseWidth), width[last]-over())
		}
		for limit := slices.Max(width) - 1; over() > 0 && limit > 0; limit-- {
			for i := range width {
				if width[i] > limit && width[i] > least[i] && over() > 0 {
					width[i] = max(limit, least[i])
				}
			}
		}
		if over() <= 0 {
			break
		}
	}
	return around, over() <= 0
}

const (
	proseWidth = 24      // of the last column, before others are folded
	divides    = "/,:;=" // after which a path or a list may be divided; names, which are typed again, stay whole
)

// leastWidth is the narrowest that a column can be without cutting a word.
func (t Table) leastWidth(i int, titles []string, cells [][]string, marks string) int {
	longest := utf8.RuneCountInString(titles[i])
	for _, row := range cells {
		if t.Columns[i].Right {
			longest = max(longest, utf8.RuneCountInString(row[i]))
			continue
		}
		word := 0
		for _, r := range row[i] {
			word++
			if r == ' ' {
				word = 0
			}
			longest = max(longest, word)
			if strings.ContainsRune(marks, r) {
				word = 0
			}
		}
	}
	return longest
}

// formatCards shows a table that is too wide for the terminal a row at a time, a line for
// each cell that has something in it.
func (t Table) formatCards(titles []string, cells [][]string, columns int) string {
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
			for _, line := range foldCell(cell, max(columns-widest-2, 10)) {
				if line != "" {
					b.WriteString(head + strings.Repeat(" ", widest-utf8.RuneCountInString(head)+2) + line + "\n")
				}
				head = ""
			}
		}
	}
	return b.String()
}

// foldCell divides a cell into lines of at most width characters: at blanks, else after a mark that divides a name. A word
// that is longer stays whole.
func foldCell(cell string, width int) []string {
	var lines []string
	for rest := []rune(cell); ; {
		if len(rest) <= width || width < 1 {
			return append(lines, string(rest))
		}
		at := breakBefore(rest, width)
		if at == len(rest) {
			return append(lines, string(rest))
		}
		lines = append(lines, strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
}

// breakBefore is where a text is divided: the last blank or mark that leaves at most width characters, else the first
// of all.
func breakBefore(text []rune, width int) int {
	blank, mark := -1, -1
	for i := 1; i < len(text) && (i <= width || blank < 0 && mark < 0); i++ {
		if text[i] == ' ' {
			blank = i
		} else if text[i-1] != ' ' && strings.ContainsRune(divides, text[i-1]) {
			mark = i
		}
	}
	switch {
	case blank > 0 && (blank > width/3 || mark < 0 || mark < blank):
		return blank
	case mark > 0:
		return mark
	}
	return len(text)
}

// cutCell shortens a cell to limit characters at the end of a word, with an ellipsis after it; 0 = no limit.
func cutCell(s string, limit int) string {
	if limit <= 0 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	short := string([]rune(s)[:limit-1])
	i := strings.LastIndexByte(short, ' ')
	if i > 0 && []rune(s)[limit-1] != ' ' {
		short = short[:i]
	}
	return strings.TrimRight(short, " ") + "…"
}
