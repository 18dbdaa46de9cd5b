package xmltree

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxDepth is how deep elements may be nested.
const MaxDepth = 128

// Parse reads one document. It refuses everything but one root element with a
// prologue before it.
func Parse(data []byte) (*Node, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var root *Node
	var open []*Node
	var text []byte // of the innermost open element; comments and CDATA cut it to pieces
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("not XML: %w", err)
		}
		switch t := t.(type) {
		case xml.Directive:
			return nil, errors.New("a document type declaration is not allowed in NETCONF")
		case xml.StartElement:
			n, err := newElementNode(t)
			if err != nil {
				return nil, err
			}
			switch {
			case len(open) >= MaxDepth:
				return nil, fmt.Errorf("elements are nested deeper than %d", MaxDepth)
			case len(open) > 0:
				up := open[len(open)-1]
				up.Kids = append(up.Kids, n)
			case root != nil:
				return nil, errors.New("more than one root element")
			default:
				root = n
			}
			open, text = append(open, n), text[:0]
		case xml.EndElement:
			if n := open[len(open)-1]; len(n.Kids) == 0 {
				n.Text, text = string(text), text[:0]
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				if len(open[len(open)-1].Kids) == 0 {
					text = append(text, t...)
				}
			} else if strings.TrimSpace(string(t)) != "" {
				return nil, errors.New("text outside the root element")
			}
		}
	}
	if root == nil {
		return nil, errors.New("no element")
	}
	return root, nil
}

func newElementNode(t xml.StartElement) (*Node, error) {
	n := &Node{Space: t.Name.Space, Name: t.Name.Local}
	if !isPlainName(n.Name) {
		return nil, fmt.Errorf("the element name %q is not allowed", n.Name)
	}
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			continue
		}
		if !isPlainName(a.Name.Local) {
			return nil, fmt.Errorf("the attribute name %q is not allowed", a.Name.Local)
		}
		n.Attrs = append(n.Attrs, Attr{a.Name.Space, a.Name.Local, a.Value})
	}
	return n, nil
}

// isPlainName is true for a local name that can be written as it is: a colon left in it
// is one that belongs to no prefix.
func isPlainName(name string) bool {
	return name != "" && !strings.ContainsAny(name, ":<>&\"' \t\r\n")
}
