package yang

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

// xmlReader reads one XML document as instances of schema nodes, in one pass. Document types,
// entities and text between elements are refused. What the schema says about members and values is
// checked afterwards by the same validator that checks JSON.
type xmlReader struct {
	scan   xmlScanner
	a      *arena
	o      Options
	spaces *spaces
	scope  []xmlns
	depth  int
	values int
	err    *fault.Error
}

// maxXMLDeclarations are the namespace declarations that may be in force: each prefix is looked for among all of them.
const maxXMLDeclarations = 256

// xmlns is a namespace declaration that is in force.
type xmlns struct {
	prefix, uri string
	depth       int
}

// parseXML reads a document. With wrapped its element stands for n and the members of n are
// returned; else the element is a member of n, and is the one member of what is returned.
func parseXML(text []byte, n *Node, o Options, a *arena, wrapped bool) (*Data, *fault.Error) {
	whole := string(text)
	if !utf8.ValidString(whole) {
		return nil, fault.New(fault.Malformed, "the text is not UTF-8")
	}
	if c := nonCharacter(whole); c != 0 {
		return nil, fault.New(
			fault.Malformed,
			"the text has the character U+%04X, which YANG does not allow",
			c,
		)
	}
	r := &xmlReader{
		scan:   xmlScanner{text: whole},
		a:      a,
		o:      o,
		spaces: n.spaces,
	}
	if r.spaces == nil {
		r.spaces = &spaces{}
	}
	top := a.newData()
	top.kind = jObject
	start := r.nextToken()
	if start.kind != xmlStartElement {
		r.recordFault("an element is expected here")
		return nil, r.err
	}
	if wrapped {
		if want := wrapperName(n); start.name.local != want {
			r.recordFault("the root element must be %q, not %.40q", want, start.name.local)
		}
		r.masked(top, n, &start)
		r.readMembers(top, n)
	} else {
		var arrays []*Data
		r.readChild(top, n, &start, &arrays)
	}
	if r.err == nil {
		if t := r.nextToken(); t.kind != xmlEnd {
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
	line, column := r.scan.place()
	r.err = fault.New(
		fault.Malformed,
		"line %d, column %d: %s",
		line,
		column,
		fmt.Sprintf(format, args...),
	)
}

// nextToken returns the next token that matters: none at the end or after an error.
func (r *xmlReader) nextToken() xmlToken {
	for r.err == nil {
		t := r.scan.next()
		switch t.kind {
		case xmlEnd:
			if r.scan.fault != "" {
				r.recordFault("%s", r.scan.fault)
			}
			return t
		case xmlText:
			if r.depth > 0 {
				return t
			}
			if strings.TrimSpace(t.text) != "" {
				r.recordFault("there is text outside the root element")
			}
		case xmlEndElement:
			r.depth--
			return t
		case xmlStartElement:
			if r.beginElement(&t) {
				return t
			}
		}
	}
	return xmlToken{}
}

// beginElement counts an element, takes its namespace declarations and replaces the prefixes of names by namespaces.
func (r *xmlReader) beginElement(t *xmlToken) bool {
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
	for _, at := range t.attrs {
		switch {
		case at.name.space == "xmlns":
			r.scope = append(r.scope, xmlns{at.name.local, at.value, r.depth})
		case at.name.space == "" && at.name.local == "xmlns":
			r.scope = append(r.scope, xmlns{"", at.value, r.depth})
		}
	}
	if len(r.scope) > maxXMLDeclarations {
		r.recordFault(
			"more than %d namespace declarations are in force: declare a namespace once, or where it is used",
			maxXMLDeclarations,
		)
		return false
	}
	t.name.space = r.namespace(t.name.space)
	for i := range t.attrs {
		at := &t.attrs[i]
		if at.name.space != "" && at.name.space != "xmlns" {
			at.name.space = r.namespace(at.name.space)
		}
		if at.name.local == "operation" && at.name.space == netconfBase {
			r.recordFault("the attribute operation is only for NETCONF: use the HTTP method or a YANG patch")
			return false
		}
	}
	return true
}

// namespace is that of a prefix; one that is not declared means itself, which is no module's namespace.
func (r *xmlReader) namespace(prefix string) string {
	for i := len(r.scope) - 1; i >= 0; i-- {
		if r.scope[i].prefix == prefix {
			return r.scope[i].uri
		}
	}
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	return prefix
}

const netconfBase = "urn:ietf:params:xml:ns:netconf:base:1.0"

// readMembers reads the children of an element as members of d, an instance of n, up to its end.
func (r *xmlReader) readMembers(d *Data, n *Node) {
	var arrays []*Data
	for r.err == nil {
		switch t := r.nextToken(); t.kind {
		case xmlStartElement:
			r.readChild(d, n, &t, &arrays)
		case xmlText:
			if strings.TrimSpace(t.text) != "" {
				r.recordFault("there is text in %s %q, which has members", n.Kind, n.Name)
			}
		case xmlEndElement:
			return
		default:
			r.recordFault("the text ends inside an element")
		}
	}
}

// readChild reads one element below d, an instance of n. arrays are those of d so far.
func (r *xmlReader) readChild(d *Data, n *Node, start *xmlToken, arrays *[]*Data) {
	m := r.lookupChild(n, start.name)
	c := r.a.newData()
	if m == nil {
		c.name = r.foreignName(start.name, n.Module)
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
func (r *xmlReader) masked(d *Data, n *Node, start *xmlToken) {
	if !r.o.Masks || !n.HasSecrets() {
		return
	}
	for _, a := range start.attrs {
		if a.name.local == "masked" &&
			a.name.space == r.spaces.uri[schemaModule] &&
			a.name.space != "" {
			d.nameMasked(a.value)
		}
	}
}

// lookupChild returns the data child of n that an element is; nil if it is not a data child.
func (r *xmlReader) lookupChild(n *Node, name prefixedName) *Node {
	m := n.index[name.local]
	if m != nil && (name.space == "" || r.spaces.uri[m.Module] == name.space) {
		return m
	}
	if name.space == "" {
		return n.index[r.o.Aliases.memberAlias(n, name.local)]
	}
	module := r.spaces.module[name.space]
	if module == "" {
		return nil
	}
	if m = n.index[module+":"+name.local]; m == nil && module == n.Module {
		m = n.index[r.o.Aliases.memberAlias(n, name.local)]
	}
	return m
}

// foreignName is the member name of an element that the schema does not have below a module.
func (r *xmlReader) foreignName(name prefixedName, above string) string {
	module, local := r.spaces.module[name.space], memberName(name.local)
	switch {
	case name.space != "" && module == "":
		return "{" + name.space + "}" + local
	case module == "" || module == above:
		return local
	}
	return module + ":" + local
}

// readGeneric reads an element that has no schema: an object when there are elements in it, else a
// string. module is that of the element.
func (r *xmlReader) readGeneric(d *Data, module string) {
	d.kind = jString
	text := ""
	var more []byte // texts after the first: comments and CDATA sections divide a text
	var seen map[string]*Data
	for r.err == nil {
		switch t := r.nextToken(); t.kind {
		case xmlStartElement:
			d.kind = jObject
			if seen == nil {
				seen = map[string]*Data{}
			}
			name := r.foreignName(t.name, module)
			space := t.name.space
			c := r.a.newData()
			c.name = name
			r.readGeneric(c, r.spaces.module[space])
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
		case xmlText:
			if text == "" {
				text = t.text // almost always the only one
			} else {
				more = append(more, t.text...)
			}
		case xmlEndElement:
			text += string(more)
			if d.kind == jString {
				d.text = text
			} else if strings.TrimSpace(text) != "" {
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
