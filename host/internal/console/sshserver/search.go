package sshserver

import (
	"strings"
	"unicode/utf8"
)

// Keys of the incremental search. The keyboard sends the last two in place of keys that the line editor would act on itself.
const (
	keyCtrlG   = 0x07 // give the search up
	keyCtrlR   = 0x12 // an older line
	keyTaken   = 0x1e // the line found is taken; the key that ended the search follows
	keyShorter = 0x1f // the last letter sought is removed
)

// search is Ctrl-R: each letter narrows down which line of the history is shown, as bash does it. Enter runs the line, any other
// key takes it to be edited, Ctrl-G gives the earlier line back.
type search struct {
	on     bool
	sought string
	at     int    // index in the history, from the newest
	found  bool   // of what is sought now
	line   string // found last
	before string // what stood there when the search began
}

// step moves the search by a key; lines is the history, oldest first.
func (s *search) step(lines []string, line string, key rune) {
	switch {
	case !s.on:
		*s = search{on: true, before: line, line: line, sought: line}
	case key == keyCtrlR:
		s.seek(lines, s.at+1, s.line)
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
	s.seek(lines, s.at, "")
}

// seek looks for the newest line from an index on that differs from another; without one what was found stays.
func (s *search) seek(lines []string, from int, other string) {
	s.found = s.sought == ""
	if s.found {
		s.line, s.at = s.before, 0
		return
	}
	for i := from; i < len(lines); i++ {
		if l := lines[len(lines)-1-i]; strings.Contains(l, s.sought) && l != other {
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
	if i := strings.Index(s.line, s.sought); s.on && i >= 0 {
		return i
	}
	return len(s.line)
}
