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

func (c *completer) handleKey(line string, pos int, key rune) (string, int, bool) {
	switch {
	case c.search.on || key == keyCtrlR:
		c.search.handleKey(c.lines.Lines(), line, key)
		c.keys.setSearching(c.search.on)
		prompt := c.shell.Prompt()
		if c.search.on {
			prompt = c.search.prompt()
		}
		c.edit.SetPrompt(prompt)
		_, _ = c.edit.Write(nil) // draws the prompt again
		return c.search.line, c.search.pos(), true
	case key == keyTab:
		return c.completeTab(line, pos)
	}
	return "", 0, false
}

func (c *completer) completeTab(line string, pos int) (string, int, bool) {
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
			fmt.Fprint(c.edit, formatCandidates(cands, c.width()))
			return line, pos, true
		}
		word = common
	}
	start := line[:comp.Start] + word
	return start + strings.TrimPrefix(line[pos:], " "), len(start), true
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

// formatCandidates prints candidates: few with their help, many in columns.
func formatCandidates(cands []engine.Candidate, width int) string {
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
			b.WriteString(strings.TrimRight(
				string(line[:min(len(line), max(width-1, 20))]),
				" ",
			) + "\n")
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

// Keys of the incremental search. The keyboard sends the last two in place of keys that the line editor would act on
// itself.
const (
	keyCtrlG   = 0x07 // give the search up
	keyCtrlR   = 0x12 // an older line
	keyTaken   = 0x1e // the line found is taken; the key that ended the search follows
	keyShorter = 0x1f // the last letter sought is removed
)

// search is Ctrl-R: each letter narrows down which line of the history is shown, as bash does it. Enter runs the line,
// any other key takes it to be edited, Ctrl-G gives the earlier line back.
type search struct {
	on     bool
	sought string
	at     int    // index in the history, from the newest
	found  bool   // of what is sought now
	line   string // found last
	before string // what stood there when the search began
}

// handleKey moves the search by a key; lines is the history, oldest first.
func (s *search) handleKey(lines []string, line string, key rune) {
	switch {
	case !s.on:
		*s = search{
			on:     true,
			before: line,
			line:   line,
			sought: line,
		}
	case key == keyCtrlR:
		s.seekLine(lines, s.at+1, s.line)
		return
	case key == keyShorter:
		_, n := utf8.DecodeLastRuneInString(s.sought)
		s.sought, s.at = s.sought[:len(s.sought)-n], 0
	case key == keyCtrlG:
		s.on, s.line = false, s.before
		return
	case key < ' ':
		s.on = false
		return
	default:
		s.sought += string(key)
	}
	s.seekLine(lines, s.at, "")
}

// seekLine looks for the newest line from an index on that differs from another; without one what was found stays.
func (s *search) seekLine(lines []string, from int, other string) {
	s.found = s.sought == ""
	if s.found {
		s.line, s.at = s.before, 0
		return
	}
	for i := from; i < len(lines); i++ {
		l := lines[len(lines)-1-i]
		if strings.Contains(l, s.sought) && l != other {
			s.at, s.line, s.found = i, l, true
			return
		}
	}
}

// prompt stands before the line while the search goes on.
func (s *search) prompt() string {
	if s.found || s.sought == "" {
		return "(reverse-i-search) " + s.sought + ": "
	}
	return "(failed reverse-i-search) " + s.sought + ": "
}

// pos is where the cursor stands in the line found.
func (s *search) pos() int {
	i := strings.Index(s.line, s.sought)
	if s.on && i >= 0 {
		return i
	}
	return len(s.line)
}
