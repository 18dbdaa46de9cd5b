package vendorfile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The bounds of a file: its size and a text in octets, its elements, and their depth.
const (
	MaxFile     = 1 << 20
	maxText     = 4 << 10
	maxElements = 50000
	maxDepth    = 12
)

// element is an XML element with the line it begins at.
type element struct {
	name     string
	line     int
	text     string
	children []*element
}

// lineError is an error that has a line.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string {
	return fmt.Sprintf("line %d: %s", e.line, e.text)
}

func lineErrorAt(line int, format string, args ...any) error {
	return &lineError{line, fmt.Sprintf(format, args...)}
}

// parseTree reads the elements. Attributes, name spaces, processing instructions other
// than the first line's, and document types have no place in the file.
func parseTree(text []byte) (*element, error) {
	if len(text) > MaxFile {
		return nil, lineErrorAt(1, "the file has %d octets, more than %d", len(text), MaxFile)
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	var root *element
	var open []*element
	count := 0
	for {
		line, _ := d.InputPos()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var s *xml.SyntaxError
			if errors.As(err, &s) {
				return nil, lineErrorAt(s.Line, "%s", s.Msg)
			}
			return nil, lineErrorAt(line, "%v", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if count++; count > maxElements || len(open) >= maxDepth {
				return nil, lineErrorAt(
					line,
					"more than %d elements, or deeper than %d",
					maxElements,
					maxDepth,
				)
			}
			if len(t.Attr) > 0 || t.Name.Space != "" {
				return nil, lineErrorAt(
					line,
					"<%s> has an attribute or a name space, of which the file knows none",
					t.Name.Local,
				)
			}
			e := &element{name: t.Name.Local, line: line}
			switch {
			case len(open) > 0:
				up := open[len(open)-1]
				up.children = append(up.children, e)
			case root != nil:
				return nil, lineErrorAt(line, "<%s> comes after the root element", e.name)
			default:
				root = e
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				e := open[len(open)-1]
				if e.text += string(t); len(strings.TrimSpace(e.text)) > maxText ||
					len(e.text) > 4*maxText {
					return nil, lineErrorAt(
						line,
						"<%s> has a text of more than %d octets",
						e.name,
						maxText,
					)
				}
			}
		case xml.Directive:
			return nil, lineErrorAt(line, "a document type has no place here")
		case xml.ProcInst:
			if t.Target != "xml" {
				return nil, lineErrorAt(line, "a processing instruction has no place here")
			}
		}
	}
	if root == nil {
		return nil, lineErrorAt(1, "there is no element")
	}
	trimText(root)
	return root, nil
}

func trimText(e *element) {
	e.text = strings.TrimSpace(e.text)
	for _, c := range e.children {
		trimText(c)
	}
}
