// Package xmlfile reads settings files of the initial datastore, XML with a known
// root, and changes single elements of them so that comments stay. What the elements
// mean is known where they are used; etc/ctl.yaml is read by package home itself.
package xmlfile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/nearest"
)

const (
	MaxSize  = 1 << 20
	maxDepth = 8
)

// Leaf is an element without elements in it, with its place in the text.
type Leaf struct {
	Path       string // below the root, "ctlKeystore/name"
	Text       string
	Line       int
	start, end int // from its "<" to after its last ">"
}

// File is a settings file of the initial datastore. It is changed by replacing
// the text of single elements, so that comments stay.
type File struct {
	Name   string
	root   string
	text   []byte
	Leaves []Leaf
	// inside is where a new element of a container goes: before its end tag.
	inside map[string]int
}

// Parse reads a file whose root element has a name; faults name file and line.
func Parse(name string, text []byte, root string) (*File, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are allowed", name, len(text), MaxSize)
	}
	f := &File{
		Name:   name,
		root:   root,
		text:   text,
		inside: map[string]int{},
	}
	type open struct {
		path     string // below the root
		start    int
		line     int
		text     strings.Builder
		children bool
	}
	var stack []*open
	d := xml.NewDecoder(bytes.NewReader(text))
	seen := false
	for {
		before := int(d.InputOffset())
		tok, err := d.Token()
		line, _ := d.InputPos()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: not well-formed XML: %v", name, line, err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(stack) == 0 && (seen || t.Name.Local != root) {
				return nil, fmt.Errorf(
					"%s:%d: the root element is <%s>, want one <%s>",
					name,
					line,
					t.Name.Local,
					root,
				)
			}
			if len(stack) >= maxDepth {
				return nil, fmt.Errorf(
					"%s:%d: elements are nested deeper than %d",
					name,
					line,
					maxDepth,
				)
			}
			seen = true
			path := ""
			if len(stack) > 0 {
				parent := stack[len(stack)-1]
				parent.children = true
				path = strings.TrimPrefix(parent.path+"/"+t.Name.Local, "/")
			}
			stack = append(stack, &open{
				path:  path,
				start: before,
				line:  line,
			})
		case xml.CharData:
			if len(stack) > 0 {
				stack[len(stack)-1].text.Write(t)
			}
		case xml.EndElement:
			o := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if bytes.HasPrefix(text[before:], []byte("</")) {
				f.inside[o.path] = before // not for <a/>, which has no end tag
			}
			if !o.children && len(stack) > 0 {
				f.Leaves = append(
					f.Leaves,
					Leaf{o.path, strings.TrimSpace(o.text.String()), o.line, o.start, int(d.InputOffset())},
				)
			}
		}
	}
	if !seen {
		return nil, fmt.Errorf(
			"%s: the file is empty; remove it to use the defaults, or restore it",
			name,
		)
	}
	return f, nil
}

// Fields reads the elements: each by the function of its path, at most once. Others are refused,
// but for what ignore accepts. An error names file, line and element.
func (f *File) Fields(fields map[string]func(text string) error, ignore func(Leaf) bool) error {
	seen := map[string]int{}
	for _, l := range f.Leaves {
		if ignore != nil && ignore(l) {
			continue
		}
		set, ok := fields[l.Path]
		if !ok {
			return fmt.Errorf(
				"%s:%d: <%s>: no such element%s",
				f.Name,
				l.Line,
				l.Path,
				nearest.Hint(l.Path, slices.Sorted(maps.Keys(fields))),
			)
		}
		if first, twice := seen[l.Path]; twice {
			return fmt.Errorf(
				"%s:%d: <%s> is set twice, first in line %d",
				f.Name,
				l.Line,
				l.Path,
				first,
			)
		}
		seen[l.Path] = l.Line
		if l.Text == "" {
			continue
		}
		if err := set(l.Text); err != nil {
			return fmt.Errorf("%s:%d: <%s>: %w", f.Name, l.Line, l.Path, err)
		}
	}
	return nil
}

// Number is a function of Fields that reads a whole number from low to high.
func Number(to *int, low, high int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a number from %d to %d", s, low, high)
		}
		*to = n
		return nil
	}
}

// Decimal is a number as the value of an element; 0 is left out.
func Decimal(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Text is a function of Fields that takes up to most bytes.
func Text(to *string, most int) func(string) error {
	return func(s string) error {
		if len(s) > most {
			return fmt.Errorf("%d characters, at most %d are allowed", len(s), most)
		}
		*to = s
		return nil
	}
}

// Change is a new value of an element.
type Change struct{ Path, Old, Value string }

// Apply sets the elements whose value is another one, and reports whether there was any.
func (f *File) Apply(changes []Change) (changed bool, err error) {
	for _, c := range changes {
		if c.Old == c.Value {
			continue
		}
		text, err := f.Set(c.Path, c.Value)
		if err != nil {
			return changed, err
		}
		next, err := Parse(f.Name, text, f.root)
		if err != nil {
			return changed, err
		}
		*f, changed = *next, true
	}
	return changed, nil
}

// Set returns the text with the element at path, such as "a/b", holding value.
func (f *File) Set(path, value string) ([]byte, error) {
	for _, l := range f.Leaves {
		if l.Path == path {
			return spliceBytes(f.text, l.start, l.end, f.elementWithValue(l, value)), nil
		}
	}
	dir, name := splitPath(path)
	element := fmt.Sprintf("<%s>%s</%s>\n", name, escapeXML(value), name)
	at, ok := f.inside[dir]
	for !ok && dir != "" {
		parent, last := splitPath(dir)
		element = fmt.Sprintf("<%s>\n%s</%s>\n", last, element, last)
		dir = parent
		at, ok = f.inside[dir]
	}
	if !ok {
		return nil, fmt.Errorf(
			"%s: the element <%s> is missing; add it as an empty element",
			f.Name,
			path,
		)
	}
	return spliceBytes(f.text, at, at, element), nil
}

func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/') // -1: the name alone
	return path[:max(i, 0)], path[i+1:]
}

// elementWithValue is the element of a leaf with another value.
func (f *File) elementWithValue(l Leaf, value string) string {
	tag := f.text[l.start+1 : l.end]
	tag = tag[:bytes.IndexAny(tag, " \t\r\n/>")] // with its prefix
	return fmt.Sprintf("<%s>%s</%s>", tag, escapeXML(value), tag)
}

func escapeXML(value string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(value)) // a buffer takes everything
	return b.String()
}

func spliceBytes(text []byte, from, to int, with string) []byte {
	return append(append(append([]byte{}, text[:from]...), with...), text[to:]...)
}

// Bytes is the text of the file.
func (f *File) Bytes() []byte { return f.text }

// Replace puts values into the elements at path, one each, in their order: those that
// are too many are emptied, the last one takes what is left, separated by commas.
func (f *File) Replace(path string, values []string) ([]byte, error) {
	var at []Leaf
	for _, l := range f.Leaves {
		if l.Path == path {
			at = append(at, l)
		}
	}
	if len(at) == 0 {
		return f.Set(path, strings.Join(values, ","))
	}
	text := f.text
	for i, l := range slices.Backward(at) { // from the end, so that the places before stay
		value := ""
		if i < len(values) {
			value = values[i]
		}
		if i == len(at)-1 && len(values) > len(at) {
			value = strings.Join(values[i:], ",")
		}
		text = spliceBytes(text, l.start, l.end, f.elementWithValue(l, value))
	}
	return text, nil
}
