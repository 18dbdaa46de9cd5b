package yang

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendXML appends d as XML elements to buf, as RFC 7950 writes instances: each element in the
// namespace of its module, lists and leaf-lists as repeated elements. The root of a Set gives the
// elements of its members. Inside anydata, where there is no schema, members become elements and
// arrays repeated ones; what a JSON scalar was is not kept.
func (d *Data) AppendXML(buf []byte) []byte {
	return d.appendXML(xmlWriter{buf: buf})
}

// AppendXMLWithOrigin is AppendXML with the attributes of RFC 8527 section 3.2.2.
func (d *Data) AppendXMLWithOrigin(buf []byte) []byte {
	return d.appendXML(xmlWriter{buf: buf, origin: true})
}

func (d *Data) appendXML(w xmlWriter) []byte {
	if d.Node != nil {
		w.spaces = d.Node.spaces
	}
	if d.Node != nil && d.Node.Kind == Root {
		for c := d.first; c != nil; c = c.next {
			w.writeValue(c, c.name, "")
		}
		return w.buf
	}
	w.writeValue(d, d.name, "")
	return w.buf
}

type xmlWriter struct {
	buf    []byte
	spaces *spaces
	origin bool
	paths  []string // members without a schema whose values are instance-identifiers
}

// writeValue writes d below an element of a module.
func (w *xmlWriter) writeValue(d *Data, name, module string) {
	if d.kind == jArray {
		for e := d.first; e != nil; e = e.next {
			w.writeValue(e, name, module)
		}
		return
	}
	below := module
	if n := d.Node; n != nil {
		name, below = n.Name, n.Module
	} else if m := w.moduleOfName(name); m != "" {
		name, below = xmlName(name[len(m)+1:]), m
	} else {
		name = xmlName(name)
	}
	w.buf = append(append(w.buf, '<'), name...)
	if below != module {
		w.declareNamespace("", below)
	}
	if w.origin {
		if o := d.newOrigin(); o != 0 {
			w.buf = append(w.buf, ` xmlns:or="urn:ietf:params:xml:ns:yang:ietf-origin" or:origin="or:`+o.String()+`"`...)
		}
	}
	masked := d.masked()
	if masked != nil {
		w.declareNamespace(schemaPrefix, schemaModule)
		w.buf = append(append(w.buf, " "+schemaPrefix+`:masked="`...), masked.first.text+`"`...)
	}
	text := w.scalarText(d, name)
	switch {
	case d.kind == jObject && d.first != nil:
		w.buf = append(w.buf, '>')
		for c := d.first; c != nil; c = c.next {
			if c == masked {
				continue
			}
			w.writeValue(c, c.name, below)
		}
	case text != "":
		w.buf = append(w.buf, '>')
		w.buf = appendXMLText(w.buf, text)
	default:
		w.buf = append(w.buf, '/', '>')
		return
	}
	w.buf = append(append(append(w.buf, '<', '/'), name...), '>')
}

// moduleOfName is that of a qualified name, empty for any other.
func (w *xmlWriter) moduleOfName(name string) string {
	m, _, ok := strings.Cut(name, ":")
	if ok && w.namespaceURI(m) != "" {
		return m
	}
	return ""
}

func (w *xmlWriter) namespaceURI(module string) string {
	if w.spaces == nil {
		return ""
	}
	return w.spaces.uri[module]
}

// declareNamespace writes a namespace declaration; an empty prefix is the default namespace.
func (w *xmlWriter) declareNamespace(prefix, module string) {
	w.buf = append(w.buf, " xmlns"...)
	if prefix != "" {
		w.buf = append(append(w.buf, ':'), prefix...)
	}
	w.buf = append(w.buf, `="`...)
	w.buf = append(appendXMLText(w.buf, w.namespaceURI(module)), '"')
}

// scalarText returns the text of a leaf, with the prefixes in it declared.
func (w *xmlWriter) scalarText(d *Data, name string) string {
	base := Base(0)
	switch {
	case d.kind == jObject || d.kind == jNull:
		return ""
	case d.typ != nil:
		base = d.typ.Base
	case slices.Contains(w.paths, name):
		base = InstanceIdentifier
	}
	switch base {
	case Identityref:
		if m, _, ok := strings.Cut(d.text, ":"); ok {
			w.declareNamespace(m, m)
		}
	case InstanceIdentifier:
		text, used := toXMLPath(d.text)
		for _, m := range used {
			if w.namespaceURI(m) != "" {
				w.declareNamespace(m, m)
			}
		}
		return text
	}
	return d.Text()
}

// xmlSpecial are the bytes of xmlEscapes, which are looked for in each text.
var (
	xmlSpecial = [256]bool{
		'<':  true,
		'>':  true,
		'&':  true,
		'"':  true,
		'\r': true,
	}
	xmlEscapes = map[byte]string{
		'<':  "&lt;",
		'>':  "&gt;",
		'&':  "&amp;",
		'"':  "&quot;",
		'\r': "&#13;",
	}
)

// jsonOrXML are the bytes that one of the two escapes, and the end of a JSON string.
var jsonOrXML = [256]bool{
	'<':  true,
	'>':  true,
	'&':  true,
	'"':  true,
	'\r': true,
	'\\': true,
}

// appendXMLText escapes text for an element or an attribute. A carriage return is escaped as
// readers would make a line feed of it.
func appendXMLText(buf []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if !xmlSpecial[s[i]] {
			continue
		}
		buf = append(append(buf, s[start:i]...), xmlEscapes[s[i]]...)
		start = i + 1
	}
	return append(buf, s[start:]...)
}

// xmlName makes an element's name of a member's name inside anydata: what may not stand in one
// is written _xHHHH_.
func xmlName(s string) string {
	if isIdentifier(s) && !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if r < utf8.RuneSelf && nameByte(byte(r), i) && !strings.HasPrefix(s[i:], "_x") {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "_x%04X_", r)
		}
	}
	if s == "" {
		return "_x_"
	}
	return b.String()
}

var escapedInName = regexp.MustCompile(`_x([0-9A-F]{4,6})?_`)

// memberName is the name that xmlName made an element's name of.
func memberName(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	return escapedInName.ReplaceAllStringFunc(s, func(e string) string {
		r, err := strconv.ParseUint(e[2:len(e)-1], 16, 32)
		if err != nil {
			return ""
		}
		return string(rune(r))
	})
}

// XMLOf writes a JSON object that has no schema as XML, one element a member: a name with the name
// of a module of the sets, or at the top without one of the module top, is in its namespace. The
// values of members named in paths are instance-identifiers.
func XMLOf(text []byte, top string, paths []string, sets ...*Set) ([]byte, error) {
	d, err := DecodeAny(text)
	if err != nil {
		return nil, err
	}
	all := &spaces{uri: map[string]string{}}
	for _, s := range sets {
		maps.Copy(all.uri, s.Root.spaces.uri)
	}
	w := xmlWriter{spaces: all, paths: paths}
	for c := d.first; c != nil; c = c.next {
		name := c.name
		if w.moduleOfName(name) == "" {
			name = top + ":" + name
		}
		w.writeValue(c, name, "")
	}
	return w.buf, nil
}

// XMLPath is an instance-identifier as an element path, with the prefixes it needs.
func (s *Set) XMLPath(path string) []byte {
	w := xmlWriter{
		spaces: s.Root.spaces,
		paths:  []string{"path"},
	}
	w.writeValue(&Data{kind: jString, text: path}, "path", "")
	return w.buf
}
