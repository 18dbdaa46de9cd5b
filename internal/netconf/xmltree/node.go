// Package xmltree is the XML of NETCONF (RFC 6241 section 3): elements with a
// namespace, text or children, few attributes. Parse bounds depth and refuses
// document type declarations; Node.Bytes escapes every text. Mixed content,
// comments and processing instructions have no meaning in NETCONF and are dropped.
package xmltree

import (
	"slices"
	"strings"
)

// Node is an element. It has text or children; with children its text is dropped.
type Node struct {
	Space string // namespace URI
	Name  string // local name
	Attrs []Attr
	Text  string // as in the document, blanks included; Trimmed is without
	Kids  []*Node
}

// Attr is an attribute. Declarations of namespaces are not kept.
type Attr struct {
	Space, Name, Value string
}

// New returns an element with children; nil ones are left out.
func New(space, name string, kids ...*Node) *Node {
	n := &Node{Space: space, Name: name}
	return n.Add(kids...)
}

// Leaf returns an element with a text.
func Leaf(space, name, text string) *Node {
	return &Node{Space: space, Name: name, Text: text}
}

// Add appends children, leaves out nil ones, and returns n.
func (n *Node) Add(kids ...*Node) *Node {
	for _, k := range kids {
		if k != nil {
			n.Kids = append(n.Kids, k)
		}
	}
	return n
}

// With adds an attribute, which n must not have yet, and returns n.
func (n *Node) With(space, name, value string) *Node {
	n.Attrs = append(n.Attrs, Attr{space, name, value})
	return n
}

// Attr returns the value of an attribute, empty if it does not exist.
func (n *Node) Attr(space, name string) string {
	for _, a := range n.Attrs {
		if a.Space == space && a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Is reports whether n has this name.
func (n *Node) Is(space, name string) bool {
	return n != nil && n.Space == space && n.Name == name
}

// Kid returns the first child of a name, or nil; so does it for a nil n.
func (n *Node) Kid(space, name string) *Node {
	if n == nil {
		return nil
	}
	for _, k := range n.Kids {
		if k.Is(space, name) {
			return k
		}
	}
	return nil
}

// All returns the children of a name.
func (n *Node) All(space, name string) []*Node {
	if n == nil {
		return nil
	}
	var out []*Node
	for _, k := range n.Kids {
		if k.Is(space, name) {
			out = append(out, k)
		}
	}
	return out
}

// Down follows names in the namespace of n from child to child; nil when one is
// missing.
func (n *Node) Down(names ...string) *Node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		n = n.Kid(n.Space, name)
	}
	return n
}

// Trimmed is the text without blanks around it; empty for a nil n.
func (n *Node) Trimmed() string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(n.Text)
}

// Value is the trimmed text of a child in the namespace of n.
func (n *Node) Value(name string) string {
	return n.Down(name).Trimmed()
}

// Clone copies the tree.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := &Node{
		Space: n.Space,
		Name:  n.Name,
		Text:  n.Text,
		Attrs: slices.Clone(n.Attrs),
	}
	for _, k := range n.Kids {
		c.Kids = append(c.Kids, k.Clone())
	}
	return c
}
