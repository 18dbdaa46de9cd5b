package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	word kind = iota
	pipe
	semicolon
	newline
	end
)

type token struct {
	kind kind
	Word
	open   byte // a quote that was never closed
	openAt int
}

type lexer struct {
	in  string
	pos int
}

func (l *lexer) next() token {
	for l.pos < len(l.in) && (l.in[l.pos] == ' ' || l.in[l.pos] == '\t' || l.in[l.pos] == '\r') {
		l.pos++
	}
	if l.pos < len(l.in) && l.in[l.pos] == '#' {
		if i := strings.IndexByte(l.in[l.pos:], '\n'); i >= 0 {
			l.pos += i
		} else {
			l.pos = len(l.in)
		}
	}
	at := func(k kind, n int) token {
		t := token{kind: k, Word: Word{Start: l.pos, End: l.pos + n}}
		l.pos += n
		return t
	}
	if l.pos == len(l.in) {
		return at(end, 0)
	}
	switch l.in[l.pos] {
	case '|':
		return at(pipe, 1)
	case ';':
		return at(semicolon, 1)
	case '\n':
		return at(newline, 1)
	}
	return l.word()
}

// word reads one word: single quotes take everything as it is, double quotes know
// \" and \\, outside quotes a backslash takes the meaning from what follows.
func (l *lexer) word() token {
	t := token{kind: word, Word: Word{Start: l.pos}}
	var b strings.Builder
	for l.pos < len(l.in) {
		c := l.in[l.pos]
		switch {
		case t.open == '\'' && c != '\'', t.open == '"' && c != '"' && c != '\\':
			b.WriteByte(c)
		case t.open != 0 && c == t.open:
			t.open = 0
		case t.open == 0 && (c == '\'' || c == '"'):
			t.open, t.openAt, t.Quoted = c, l.pos, true
		case c == '\\' && l.pos+1 < len(l.in):
			n := l.in[l.pos+1]
			if t.open == '"' && n != '"' && n != '\\' {
				b.WriteByte(c)
				break
			}
			l.pos++
			t.Quoted = true
			b.WriteByte(n)
		case t.open == 0 && strings.IndexByte(" \t\r\n|;", c) >= 0:
			t.Text, t.End = b.String(), l.pos
			return t
		default:
			b.WriteByte(c)
		}
		l.pos++
	}
	t.Text, t.End = b.String(), l.pos
	return t
}

func column(s string, pos int) string {
	return strconv.Itoa(utf8.RuneCountInString(s[:pos]) + 1)
}
