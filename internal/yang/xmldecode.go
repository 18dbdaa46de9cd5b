package yang

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"ctl.internal/sdk/fault"
)

// xmlReader reads one XML document as instances of schema nodes, in one pass. Document types,
// entities and text between elements are refused. What the schema says about members and values is
// checked afterwards by the same validator that checks JSON.
type xmlReader struct {
	dec    *xml.Decoder
	a      *arena
	o      Options
	spaces *spaces
	scope  []xmlns
	depth  int
	values int
	err    *fault.Error
}

// xmlns is a namespace declaration that is in force.
type xmlns struct {
	prefix, uri string
	depth       int
}

// parseXML reads a document. With wrapped its element stands for n and the members of n are
// returned; else the element is a member of n, and is the one member of what is returned.
func parseXML(text []byte, n *Node, o Options, a *arena, wrapped bool) (*Data, *fault.Error) {
	if c := nonCharacter(string(text)); c != 0 {
		return nil, fault.New(
			fault.Malformed,
			"the text has the character U+%04X, which YANG does not allow",
			c,
		)
	}
	r := &xmlReader{
		dec:    xml.NewDecoder(bytes.NewReader(text)),
		a:      a,
		o:      o,
		spaces: n.spaces,
	}
	if r.spaces == nil {
		r.spaces = &spaces{}
	}
	top := a.newData()
	top.kind = jObject
	start, ok := r.nextToken().(xml.StartElement)
	if !ok {
		r.recordFault("an element is expected here")
		return nil, r.err
	}
	if wrapped {
		if want := wrapperName(n); start.Name.Local != want {
			r.recordFault("the root element must be %q, not %.40q", want, start.Name.Local)
		}
		r.masked(top, n, &start)
		r.readMembers(top, n)
	} else {
		var arrays []*Data
		r.readChild(top, n, &start, &arrays)
	}
	if r.err == nil {
		if t := r.nextToken(); t != nil {
			r.recordFault("there is text after the end of the document")
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return top, nil
}

// wrapperName is the name of the element that holds the members of a node.
func wrapperName(n *Node) string {
	if n.Kind == Root {
		return "data"
	}
	return n.Name
}

func (r *xmlReader) recordFault(format string, args ...any) {
	if r.err != nil {
		return
	}
	line, column := r.dec.InputPos()
	r.err = fault.New(
		fault.Malformed,
		"line %d, column %d: %s",
		line,
		column,
		fmt.Sprintf(format, args...),
	)
}

// nextToken returns the next token that matters: a StartElement, an EndElement or CharData; nil at
// the end or after an error.
func (r *xmlReader) nextToken() xml.Token {
	for r.err == nil {
		t, err := r.dec.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.recordFault("%s", xmlError(err))
			}
			return nil
		}
		switch t := t.(type) {
		case xml.Directive:
			r.recordFault("document types and entities are not accepted")
		case xml.Comment, xml.ProcInst:
		case xml.CharData:
			if r.depth == 0 {
				if len(bytes.TrimSpace(t)) > 0 {
					r.recordFault("there is text outside the root element")
				}
				continue
			}
			return t
		case xml.EndElement:
			r.depth--
			return t
		case xml.StartElement:
			if r.beginElement(t) {
				return t
			}
		}
	}
	return nil
}

// beginElement counts an element and takes its namespace declarations.
func (r *xmlReader) beginElement(t xml.StartElement) bool {
	if r.depth++; r.depth > maxJSONDepth {
		r.recordFault("elements nest more than %d levels deep", maxJSONDepth)
		return false
	}
	if r.values++; r.values > maxJSONValues {
		r.err = fault.New(fault.TooBig, "the document has more than %d elements", maxJSONValues)
		return false
	}
	for len(r.scope) > 0 && r.scope[len(r.scope)-1].depth >= r.depth { // of elements that have ended
		r.scope = r.scope[:len(r.scope)-1]
	}
	for _, at := range t.Attr {
		switch {
		case at.Name.Space == "xmlns":
			r.scope = append(r.scope, xmlns{at.Name.Local, at.Value, r.depth})
		case at.Name.Space == "" && at.Name.Local == "xmlns":
			r.scope = append(r.scope, xmlns{"", at.Value, r.depth})
		case at.Name.Local == "operation" && at.Name.Space == netconfBase:
			r.recordFault("the attribute operation is only for NETCONF: use the HTTP method or a YANG patch")
			return false
		}
	}
	return true
}

const netconfBase = "urn:ietf:params:xml:ns:netconf:base:1.0"

// xmlError is the reason of the XML reader without its own account of the line.
func xmlError(err error) string {
	var s *xml.SyntaxError
	if errors.As(err, &s) {
		return s.Msg
	}
	return strings.TrimPrefix(err.Error(), "xml: ")
}

// readMembers reads the children of an element as members of d, an instance of n, up to its end.
func (r *xmlReader) readMembers(d *Data, n *Node) {
	var arrays []*Data
	for r.err == nil {
		switch t := r.nextToken().(type) {
		case xml.StartElement:
			r.readChild(d, n, &t, &arrays)
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				r.recordFault("there is text in %s %q, which has members", n.Kind, n.Name)
			}
		case xml.EndElement:
			return
		default:
			r.recordFault("the text ends inside an element")
		}
	}
}

// readChild reads one element below d, an instance of n. arrays are those of d so far.
func (r *xmlReader) readChild(d *Data, n *Node, start *xml.StartElement, arrays *[]*Data) {
	m := r.lookupChild(n, start.Name)
	c := r.a.newData()
	if m == nil {
		c.name = r.foreignName(start.Name, n.Module)
		d.addChild(c)
		r.readGeneric(c, "")
		return
	}
	c.Node, c.name = m, m.full[1:len(m.full)-2] // the qualified name
	if m.IsList() {
		var array *Data
		for _, a := range *arrays {
			if a.Node == m {
				array = a
			}
		}
		if array == nil {
			array = r.a.newData()
			array.Node, array.name, array.kind = m, c.name, jArray
			*arrays = append(*arrays, array)
			d.addChild(array)
		}
		d = array
	}
	d.addChild(c)
	switch {
	case m.IsLeaf():
		r.readLeaf(c, m)
	case m.Kind == AnyData:
		r.readGeneric(c, m.Module)
		if c.kind == jString && strings.TrimSpace(c.text) == "" {
			c.kind, c.text = jObject, ""
		}
	default:
		c.kind = jObject
		r.masked(c, m, start)
		r.readMembers(c, m)
	}
}

// masked reads the attribute of an element that names the members that are not shown.
func (r *xmlReader) masked(d *Data, n *Node, start *xml.StartElement) {
	if !r.o.Masks || !n.HasSecrets() {
		return
	}
	for _, a := range start.Attr {
		if a.Name.Local == "masked" &&
			a.Name.Space == r.spaces.uri[schemaModule] &&
			a.Name.Space != "" {
			d.nameMasked(a.Value)
		}
	}
}

// lookupChild returns the data child of n that an element is; nil if it is not a data child.
func (r *xmlReader) lookupChild(n *Node, name xml.Name) *Node {
	m := n.index[name.Local]
	if m != nil && (name.Space == "" || r.spaces.uri[m.Module] == name.Space) {
		return m
	}
	if name.Space == "" {
		return n.index[r.o.Aliases.memberAlias(n, name.Local)]
	}
	module := r.spaces.module[name.Space]
	if module == "" {
		return nil
	}
	if m = n.index[module+":"+name.Local]; m == nil && module == n.Module {
		m = n.index[r.o.Aliases.memberAlias(n, name.Local)]
	}
	return m
}

// foreignName is the member name of an element that the schema does not have below a module.
func (r *xmlReader) foreignName(name xml.Name, above string) string {
	module, local := r.spaces.module[name.Space], memberName(name.Local)
	switch {
	case name.Space != "" && module == "":
		return "{" + name.Space + "}" + local
	case module == "" || module == above:
		return local
	}
	return module + ":" + local
}

// readGeneric reads an element that has no schema: an object when there are elements in it, else a
// string. module is that of the element.
func (r *xmlReader) readGeneric(d *Data, module string) {
	d.kind = jString
	var text []byte
	seen := map[string]*Data{}
	for r.err == nil {
		switch t := r.nextToken().(type) {
		case xml.StartElement:
			d.kind = jObject
			name := r.foreignName(t.Name, module)
			c := r.a.newData()
			c.name = name
			r.readGeneric(c, r.spaces.module[t.Name.Space])
			switch have := seen[name]; {
			case have == nil:
				d.addChild(c)
				seen[name] = c
			case have.kind == jArray:
				have.addChild(c)
			default:
				have.wrapInArray(r.a)
				have.addChild(c)
			}
		case xml.CharData:
			text = append(text, t...)
		case xml.EndElement:
			if d.kind == jString {
				d.text = string(text)
			} else if len(bytes.TrimSpace(text)) > 0 {
				r.recordFault("text and elements are mixed")
			}
			return
		default:
			r.recordFault("the text ends inside an element")
		}
	}
}

// readLeaf reads a value.
func (r *xmlReader) readLeaf(d *Data, n *Node) {
	r.readGeneric(d, "")
	if d.kind != jString || r.err != nil {
		return // elements inside: the validator refuses an object
	}
	t := n.Type.Final()
	switch t.Base {
	case String, Union:
	case Binary:
		d.text = strings.Join(strings.Fields(d.text), "")
	default:
		d.text = strings.TrimSpace(d.text)
	}
	switch t.Base {
	case Empty:
		if d.text == "" {
			d.kind = jNull
		}
	case Identityref, InstanceIdentifier, Union:
		r.translatePrefixes(d, t)
	}
}

// translatePrefixes turns the namespace prefixes in a value into names of modules. The element has
// just ended, so its declarations are the last in scope.
func (r *xmlReader) translatePrefixes(d *Data, t *Type) {
	lookup := func(prefix string) (string, bool) {
		for i := len(r.scope) - 1; i >= 0; i-- {
			if s := r.scope[i]; s.prefix == prefix {
				m := r.spaces.module[s.uri]
				return m, m != ""
			}
		}
		return "", false
	}
	for _, t := range append([]*Type{t}, t.Members...) {
		switch t = t.Final(); t.Base {
		case Identityref:
			prefix, name := splitPrefix(d.text)
			m, ok := lookup(prefix)
			if ok && t.identities[m+":"+name] != "" {
				d.text = m + ":" + name
				return
			}
		case InstanceIdentifier:
			if s, ok := fromXMLPath(d.text, lookup); ok {
				d.text = s
				return
			}
		}
	}
}
