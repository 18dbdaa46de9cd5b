package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"ctl.internal/internal/yang"
)

// object is a JSON object of the document.
type object = map[string]any

// maxListed bounds the values that a schema lists.
const maxListed = 200

// form is one of the two ways to write instances.
type form struct {
	rfc     bool // RFC 7951: 64-bit numbers and decimals are strings, bodies name their module
	schemas object
}

// sharedSchema is a reference to the schema of a node with members, which all bodies that have the node share.
func (f form) sharedSchema(n *yang.Node, qualified string) object {
	name := f.schemaName(n, qualified)
	if f.schemas[name] == nil {
		f.schemas[name] = object{} // for what refers to itself
		f.schemas[name] = f.membersSchema(n, qualified)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// bodySchema is a reference to the schema of what carries an instance of a node. It has a name of its own: generators call bodies
// without one by their paths, which are too long for names of files.
func (f form) bodySchema(n *yang.Node, qualified string, s object) object {
	name := shortenName("body_" + f.schemaName(n, qualified))
	if f.schemas[name] == nil {
		f.schemas[name] = s
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// schemaName names the schema of a node by its path; qualified is that of the operation it belongs to.
func (f form) schemaName(n *yang.Node, qualified string) string {
	path := n.Name
	for p := n.DataParent(); p != nil && p.Kind != yang.Root; p = p.DataParent() {
		path = p.Name + "_" + path
	}
	form := "draft"
	if f.rfc {
		form = "rfc"
	}
	return shortenName(toIdentifier(qualified) + "_" + toIdentifier(path) + "_" + form)
}

// maxName bounds names: generators make names of files and types of them.
const maxName = 80

// shortenName shortens a name in its middle; the rest distinguishes it from others.
func shortenName(s string) string {
	if len(s) <= maxName {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	// Generators leave out an underscore after another one, and before a digit.
	head := strings.TrimRight(s[:maxName/2], "_")
	return head + "_h" + hex.EncodeToString(sum[:4]) + s[len(s)-(maxName/2-10):]
}

// schemaOf describes the instances of a node; qualified is the module, or the operation, that it belongs to.
func (f form) schemaOf(n *yang.Node, qualified string) object {
	var s object
	switch n.Kind {
	case yang.Leaf:
		s = f.typeSchema(n.Type)
	case yang.LeafList:
		s = object{
			"type":  "array",
			"items": f.typeSchema(n.Type),
		}
	case yang.List:
		s = object{
			"type":  "array",
			"items": f.sharedSchema(n, qualified),
		}
	case yang.AnyData:
		s = object{"type": "object"}
	default:
		return f.sharedSchema(n, qualified)
	}
	if n.Min > 0 {
		s["minItems"] = n.Min
	}
	if n.IsList() && n.Max <= 1<<31 {
		s["maxItems"] = n.Max
	}
	if n.Description != "" {
		s["description"] = n.Description
	}
	if !n.Config && n.Parent != nil && n.Parent.Config {
		s["readOnly"] = true
	}
	if n.Secret() {
		describeSecret(s, n)
	}
	return s
}

// describeSecret says that a value can be written and is not shown: instead of a text yang.Mask is, which no pattern or
// length of its type has to fit.
func describeSecret(s object, n *yang.Node) {
	if !n.MaskedText() {
		s["writeOnly"] = true
		return
	}
	clear(s)
	s["type"], s["format"] = "string", "password"
	if n.Description != "" {
		s["description"] = n.Description
	}
}

// membersSchema describes an object with the members of a node.
func (f form) membersSchema(n *yang.Node, qualified string) object {
	properties := object{}
	var required []string
	for _, m := range n.Members() {
		name := m.Name
		if m.Module != n.Module || n.Member(name) == nil {
			name = m.QName()
		}
		properties[name] = f.schemaOf(m, qualified)
		if m.Mandatory {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
	if n.Description != "" && n.Kind != yang.List {
		s["description"] = n.Description
	}
	if required != nil {
		s["required"] = required
	}
	return s
}

func (f form) typeSchema(t *yang.Type) object {
	t = t.Final()
	if f.rfc && t.Base.Quoted() {
		return object{"type": "string"}
	}
	switch t.Base {
	case yang.Boolean:
		return object{"type": "boolean"}
	case yang.Decimal64:
		return object{"type": "number"}
	case yang.Empty:
		return object{
			"type":     "array",
			"items":    object{"type": "null"},
			"minItems": 1,
			"maxItems": 1,
		}
	case yang.Union:
		var of []object
		for _, m := range t.Members {
			of = append(of, f.typeSchema(m))
		}
		return object{"anyOf": of}
	case yang.Binary:
		return object{
			"type":            "string",
			"contentEncoding": "base64",
		}
	}
	if low, high := t.Bounds(); low != "" {
		s := object{
			"type":    "integer",
			"minimum": json.Number(low),
			"maximum": json.Number(high),
		}
		s["format"] = "int32"
		if t.Base == yang.Int64 || t.Base == yang.Uint64 || t.Base == yang.Uint32 {
			s["format"] = "int64"
		}
		return s
	}
	s := object{"type": "string"}
	if low, high, ok := t.LengthBounds(); ok {
		s["minLength"] = low
		if high <= 1<<31 {
			s["maxLength"] = high
		}
	}
	if len(t.Patterns) == 1 && portablePattern.MatchString(t.Patterns[0]) {
		s["pattern"] = "^(?:" + t.Patterns[0] + ")$"
	}
	if (t.Base == yang.Enumeration || t.Base == yang.Identityref) && len(t.Names) <= maxListed {
		s["enum"] = t.Names
	}
	return s
}

// keySchema describes a key in a path. That of a union is a text: generators make a model of another schema, with a name
// that is as long as the path.
func (f form) keySchema(t *yang.Type) object {
	if t.Final().Base == yang.Union {
		return object{"type": "string"}
	}
	return f.typeSchema(t)
}

// portablePattern is what means the same in XSD and in the expressions of JSON Schema.
var portablePattern = regexp.MustCompile(`^[\[\]()|?*+{}.,:;_/@#%&=<>~!' A-Za-z0-9-]*(\\[d.][\[\]()|?*+{}.,:;_/@#%&=<>~!' A-Za-z0-9-]*)*$`)
