package openapi

import (
	"encoding/json"

	"ctl.internal/internal/yang"
)

// object is a JSON object of the document.
type object = map[string]any

// maxListed bounds the values that a schema lists.
const maxListed = 200

// form is one of the two ways to write instances.
type form struct {
	rfc bool // RFC 7951: 64-bit numbers and decimals are strings, bodies name their module
}

// schemaOf describes the instances of a node.
func (f form) schemaOf(n *yang.Node) object {
	var s object
	switch n.Kind {
	case yang.Leaf:
		s = f.typeSchema(n.Type)
	case yang.LeafList:
		s = object{"type": "array", "items": f.typeSchema(n.Type)}
	case yang.List:
		s = object{"type": "array", "items": f.membersSchema(n)}
	case yang.AnyData:
		s = object{"type": "object"}
	default:
		s = f.membersSchema(n)
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
	return s
}

// membersSchema describes an object with the members of a node.
func (f form) membersSchema(n *yang.Node) object {
	properties := object{}
	var required []string
	for _, m := range n.Members() {
		name := m.Name
		if m.Module != n.Module || n.Member(name) == nil {
			name = m.QName()
		}
		properties[name] = f.schemaOf(m)
		if m.Mandatory {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
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
		return object{"type": "array", "items": object{"type": "null"}, "minItems": 1, "maxItems": 1}
	case yang.Union:
		var of []object
		for _, m := range t.Members {
			of = append(of, f.typeSchema(m))
		}
		return object{"anyOf": of}
	case yang.Binary:
		return object{"type": "string", "contentEncoding": "base64"}
	}
	if low, high := t.Bounds(); low != "" {
		s := object{"type": "integer", "minimum": json.Number(low), "maximum": json.Number(high)}
		if t.Base == yang.Int64 || t.Base == yang.Uint64 {
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
	if (t.Base == yang.Enumeration || t.Base == yang.Identityref) && len(t.Names) <= maxListed {
		s["enum"] = t.Names
	}
	return s
}
