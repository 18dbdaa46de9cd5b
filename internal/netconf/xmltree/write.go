package xmltree

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// Bytes writes the tree without a prologue. A namespace is declared as the default
// one where it changes, so that unprefixed identities in a text belong to it.
func (n *Node) Bytes() []byte {
	var b bytes.Buffer
	n.write(&b, "")
	return b.Bytes()
}

// String is Bytes, for messages and tests.
func (n *Node) String() string { return string(n.Bytes()) }

func (n *Node) write(b *bytes.Buffer, outer string) {
	b.WriteByte('<')
	b.WriteString(n.Name)
	if n.Space != outer {
		attribute(b, "xmlns", n.Space)
	}
	prefixes := 0
	for _, a := range n.Attrs {
		switch a.Space {
		case "":
			attribute(b, a.Name, a.Value)
		case "http://www.w3.org/XML/1998/namespace", "xml":
			attribute(b, "xml:"+a.Name, a.Value)
		default:
			p := "a" + strconv.Itoa(prefixes)
			prefixes++
			attribute(b, "xmlns:"+p, a.Space)
			attribute(b, p+":"+a.Name, a.Value)
		}
	}
	switch {
	case len(n.Kids) > 0:
		b.WriteByte('>')
		for _, k := range n.Kids {
			k.write(b, n.Space)
		}
	case n.Text != "":
		b.WriteByte('>')
		escape(b, n.Text)
	default:
		b.WriteString("/>")
		return
	}
	b.WriteString("</")
	b.WriteString(n.Name)
	b.WriteByte('>')
}

func attribute(b *bytes.Buffer, name, value string) {
	b.WriteByte(' ')
	b.WriteString(name)
	b.WriteString(`="`)
	escape(b, value)
	b.WriteByte('"')
}

// escape cannot fail: a bytes.Buffer takes everything.
func escape(b *bytes.Buffer, s string) { _ = xml.EscapeText(b, []byte(s)) }
