package secini

import (
	"fmt"
	"strings"

	"ctl.internal/internal/nearest"
)

// Error is one fault of a file, with its place and its remedy.
type Error struct {
	File string
	Line int
	Text string
}

// Error returns file:line: text.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Errorf makes an error at a line of the file.
func (f *File) Errorf(line int, format string, args ...any) error {
	return &Error{File: f.Name, Line: line, Text: fmt.Sprintf(format, args...)}
}

// Unknown makes the error for a name that is none of those known: it proposes
// the nearest, or lists them all.
func (f *File) Unknown(line int, what, name string, known []string) error {
	if n, ok := nearest.Name(name, known); ok {
		return f.Errorf(line, "unknown %s %q; did you mean %q?", what, name, n)
	}
	return f.Errorf(line, "unknown %s %q; known are: %s", what, name, strings.Join(known, ", "))
}
