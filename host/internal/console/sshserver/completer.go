package sshserver

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
)

const (
	keyTab   = '\t'
	keyCtrlR = 0x12
	maxShown = 100 // candidates printed at once
)

// completer answers Tab and Ctrl-R in the line editor.
type completer struct {
	*session
	ctx context.Context
	out io.Writer

	sought string // what Ctrl-R looks for
	at     int    // where in the history it was found last, from the newest; -1 = not yet
	shown  string // the line it put up
}

func (c *completer) key(line string, pos int, key rune) (string, int, bool) {
	switch key {
	case keyTab:
		return c.tab(line, pos)
	case keyCtrlR:
		return c.search(line)
	}
	return "", 0, false
}

func (c *completer) tab(line string, pos int) (string, int, bool) {
	comp := c.shell.Complete(c.ctx, line[:pos])
	cands := comp.Candidates
	if len(cands) == 0 {
		return line, pos, true
	}
	word := console.Quote(cands[0].Text)
	if len(cands) == 1 && !cands[0].Open {
		word += " "
	}
	if len(cands) > 1 {
		common := cands[0].Text
		for _, x := range cands[1:] {
			common = commonPrefix(common, x.Text)
		}
		typed := syntax.Tail(line[:pos]).Word.Text
		if len(common) <= len(typed) || console.Quote(common) != common {
			fmt.Fprint(c.out, menu(cands, c.width()))
			return line, pos, true
		}
		word = common
	}
	start := line[:comp.Start] + word
	return start + strings.TrimPrefix(line[pos:], " "), len(start), true
}

func (c *completer) width() int {
	w, _ := c.size()
	return w
}

// search puts up the newest line of the history that contains what was typed, and
// with each further Ctrl-R an older one.
func (c *completer) search(line string) (string, int, bool) {
	if line != c.shown || c.shown == "" {
		c.sought, c.at = line, -1
	}
	lines := c.lines.Lines()
	for i := c.at + 1; i < len(lines); i++ {
		if l := lines[len(lines)-1-i]; strings.Contains(l, c.sought) && l != line {
			c.at, c.shown = i, l
			return l, len(l), true
		}
	}
	return line, len(line), true
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && !utf8.ValidString(a[:n]) {
		n--
	}
	return a[:n]
}

// menu prints candidates: few with their help, many in columns.
func menu(cands []engine.Candidate, width int) string {
	var b strings.Builder
	longest, helped := 0, false
	shown := cands[:min(len(cands), maxShown)]
	for _, c := range shown {
		longest = max(longest, utf8.RuneCountInString(c.Text))
		helped = helped || c.Help != ""
	}
	pad := func(s string, n int) string {
		return s + strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0))
	}
	if helped && len(shown) <= 24 {
		for _, c := range shown {
			line := []rune(pad(c.Text, longest) + "  " + c.Help)
			b.WriteString(strings.TrimRight(string(line[:min(len(line), max(width-1, 20))]), " ") + "\n")
		}
	} else {
		columns := max(1, width/(longest+2))
		rows := (len(shown) + columns - 1) / columns
		for r := range rows {
			var row strings.Builder
			for i := r; i < len(shown); i += rows {
				row.WriteString(pad(shown[i].Text, longest+2))
			}
			b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
		}
	}
	if n := len(cands) - len(shown); n > 0 {
		fmt.Fprintf(&b, "… and %d more; type more letters\n", n)
	}
	return b.String()
}
