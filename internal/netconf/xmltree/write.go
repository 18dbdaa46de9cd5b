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
	n.writeElement(&b, "")
	return b.Bytes()
}

// String is Bytes, for messages and tests.
func (n *Node) String() string { return string(n.Bytes()) }

func (n *Node) writeElement(b *bytes.Buffer, outer string) {
	b.WriteByte('<')
	b.WriteString(n.Name)
	if n.Space != outer {
		writeAttribute(b, "xmlns", n.Space)
	}
	prefixes := 0
	for _, a := range n.Attrs {
		switch a.Space {
		case "":
			writeAttribute(b, a.Name, a.Value)
		case "http://www.w3.org/XML/1998/namespace", "xml":
			writeAttribute(b, "xml:"+a.Name, a.Value)
		default:
			p := "a" + strconv.Itoa(prefixes)
			prefixes++
			writeAttribute(b, "xmlns:"+p, a.Space)
			writeAttribute(b, p+":"+a.Name, a.Value)
		}
	}
	switch {
	case len(n.Kids) > 0:
		b.WriteByte('>')
		for _, k := range n.Kids {
			k.writeElement(b, n.Space)
		}
	case n.Text != "":
		b.WriteByte('>')
		writeEscaped(b, n.Text)
	default:
		b.WriteString("/>")
		return
	}
	b.WriteString("</")
	b.WriteString(n.Name)
	b.WriteByte('>')
}

func writeAttribute(b *bytes.Buffer, name, value string) {
	b.WriteByte(' ')
	b.WriteString(name)
	b.WriteString(`="`)
	writeEscaped(b, value)
	b.WriteByte('"')
}

// writeEscaped cannot fail: a bytes.Buffer takes everything.
func writeEscaped(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s))
}
