package secini

import (
	"fmt"
	"strings"

	"ctl.internal/internal/nearest"
)

// File is a sec.ini as written, in order.
type File struct {
	Name    string // for messages
	Objects []*Object
	Users   []Entry
	Roles   []Entry
	URLs    []URL
}

// Entry is one line of [users] or [roles].
type Entry struct {
	Key   string
	Value Value
}

// Object is a name of [main] with the properties set on it.
type Object struct {
	Name  string
	Class string // empty when the file only sets properties of a built-in object
	Line  int
	Props []Prop
}

// Prop is `object.name = value`.
type Prop struct {
	Name  string // what follows the first dot; may hold dots itself
	Value Value
}

// Prop returns the value of a property.
func (o *Object) Prop(name string) (Value, bool) {
	if o != nil {
		for _, p := range o.Props {
			if p.Name == name {
				return p.Value, true
			}
		}
	}
	return Value{}, false
}

// Object returns the object of a name, or nil.
func (f *File) Object(name string) *Object {
	for _, o := range f.Objects {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// URL is one rule of [urls].
type URL struct {
	Pattern string
	Filters []Filter
	Line    int
}

// Text is the filters as they could be written.
func (u URL) Text() string {
	parts := make([]string, len(u.Filters))
	for i, f := range u.Filters {
		if parts[i] = f.Name; len(f.Args) > 0 {
			parts[i] += "[" + strings.Join(f.Args, ", ") + "]"
		}
	}
	return strings.Join(parts, ", ")
}

// Filter is `name` or `name[arg, arg]`.
type Filter struct {
	Name string
	Args []string
}

// Error is one fault of a file, with its place and its remedy.
type Error struct {
	File string
	Line int
	Text string
}

// Error returns file:line: text.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Errorf makes an error at a line of the file.
func (f *File) Errorf(line int, format string, args ...any) error {
	return &Error{
		File: f.Name,
		Line: line,
		Text: fmt.Sprintf(format, args...),
	}
}

// Unknown makes the error for a name that is none of those known: it proposes
// the nearest, or lists them all.
func (f *File) Unknown(line int, what, name string, known []string) error {
	if n, ok := nearest.Name(name, known); ok {
		return f.Errorf(line, "unknown %s %q; did you mean %q?", what, name, n)
	}
	return f.Errorf(line, "unknown %s %q; known are: %s", what, name, strings.Join(known, ", "))
}
