package sshserver

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
)

const (
	keyTab   = '\t'
	maxShown = 100 // candidates printed at once
)

// completer answers Tab and Ctrl-R in the line editor.
type completer struct {
	*session
	ctx  context.Context
	edit *term.Terminal
	keys *keyboard

	search search
}

func (c *completer) key(line string, pos int, key rune) (string, int, bool) {
	switch {
	case c.search.on || key == keyCtrlR:
		c.search.step(c.lines.Lines(), line, key)
		c.keys.search(c.search.on)
		prompt := c.shell.Prompt()
		if c.search.on {
			prompt = c.search.prompt()
		}
		c.edit.SetPrompt(prompt)
		_, _ = c.edit.Write(nil) // draws the prompt again
		return c.search.line, c.search.pos(), true
	case key == keyTab:
		return c.tab(line, pos)
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
			fmt.Fprint(c.edit, menu(cands, c.width()))
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
