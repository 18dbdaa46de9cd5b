// Package syntax reads a line of the controller's shell: words with quotes and
// escapes, "|" between the stages of a pipeline, ";" or a line end between
// pipelines. It knows no commands; package engine does.
package syntax

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest line in bytes that is read.
const MaxLine = 64 << 10

// Word is one word of a line, its quotes and escapes resolved.
type Word struct {
	Text       string
	Quoted     bool // some part of it stood in quotes or was escaped
	Start, End int  // where it stands in the line, in bytes
}

// Stage is one command of a pipeline: its name and what was given to it.
type Stage []Word

// Texts returns the texts of the words.
func (s Stage) Texts() []string {
	out := make([]string, len(s))
	for i, w := range s {
		out[i] = w.Text
	}
	return out
}

// Pipeline is one or more stages, the output of each being the input of the next.
type Pipeline []Stage

// Line is the pipelines of a line, to be run one after the other.
type Line []Pipeline

// Parse reads a whole line. A line of blanks and comments has no pipelines.
func Parse(s string) (Line, error) {
	l := lexer{in: s}
	if len(s) > MaxLine {
		return nil, fmt.Errorf(
			"the line is longer than %d bytes; put the commands into a file and use ctl -f FILE",
			MaxLine,
		)
	}
	var (
		line     Line
		pipeline Pipeline
		stage    Stage
	)
	for {
		t := l.nextToken()
		if t.open != 0 {
			return nil, fmt.Errorf(
				"the quote %c that begins at column %d is not closed",
				t.open,
				columnOf(s, t.openAt),
			)
		}
		switch {
		case t.kind == word:
			stage = append(stage, t.Word)
			continue
		case len(stage) > 0:
			pipeline, stage = append(pipeline, stage), nil
		case t.kind == pipe:
			return nil, fmt.Errorf(
				"there is no command before the | at column %d",
				columnOf(s, t.Start),
			)
		case len(pipeline) > 0 && t.kind == newline:
			continue // a pipe at the end of a line goes on in the next
		case len(pipeline) > 0:
			return nil, errors.New("there is no command after the last |")
		}
		if t.kind == pipe {
			continue
		}
		if len(pipeline) > 0 {
			line, pipeline = append(line, pipeline), nil
		}
		if t.kind == end {
			return line, nil
		}
	}
}

// Partial is the end of a line that is being typed, up to the cursor.
type Partial struct {
	Stage Stage // the finished words of the last stage
	Word  Word  // the word at the cursor; its text is empty after a blank
	Piped bool  // the stage follows a |
}

// Tail reads the end of an unfinished line; it never fails.
func Tail(s string) Partial {
	l := lexer{in: s}
	var p Partial
	for {
		t := l.nextToken()
		switch t.kind {
		case word:
			if t.End == len(s) {
				p.Word = t.Word
				return p
			}
			p.Stage = append(p.Stage, t.Word)
		case pipe:
			p.Stage, p.Piped = nil, true
		case semicolon, newline:
			p.Stage, p.Piped = nil, false
		case end:
			p.Word = Word{Start: len(s), End: len(s)}
			return p
		}
	}
}

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

func (l *lexer) nextToken() token {
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
		t := token{
			kind: k,
			Word: Word{Start: l.pos, End: l.pos + n},
		}
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
	return l.readWord()
}

// readWord reads one word: single quotes take everything as it is, double quotes know
// \" and \\, outside quotes a backslash takes the meaning from what follows.
func (l *lexer) readWord() token {
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

func columnOf(s string, pos int) int {
	return utf8.RuneCountInString(s[:pos]) + 1
}
