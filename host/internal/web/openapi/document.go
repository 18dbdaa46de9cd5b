package openapi

import (
	"encoding/json"
	"strings"

	"ctl.internal/sdk/yang"
)

// Stream is an event stream that can be followed.
type Stream struct{ Name, Description string }

// Document writes the RPCs, the configuration trees and the operational trees of
// the modules that include asks for, and the event streams, with the documented
// paths below /restconf, as OpenAPI 3.1.
func Document(set *yang.Set, title, version string, streams []Stream, include func(module string) bool) ([]byte, error) {
	paths := object{}
	for _, m := range set.Modules() {
		if !include(m.Name) {
			continue
		}
		for _, r := range m.RPCs {
			paths["/restconf/operations/"+m.Name+":"+r.Name] = object{"post": call(r)}
		}
		for _, n := range m.Data {
			tree(paths, "/restconf/config/"+n.QName(), n, nil)
			if !n.IsLeaf() && n.Kind != yang.AnyData {
				paths["/restconf/operational/"+n.QName()] = object{"get": operation(n.Module, "read state", n, "200", "The state", body(resource(n)))}
			}
		}
	}
	for _, s := range streams {
		op := object{"tags": []string{"event streams"}, "operationId": "follow " + s.Name, "responses": answers("200", "Server-sent events (RFC 8040 section 6.4), until either side ends it",
			object{"text/event-stream": object{"schema": object{"type": "string"}}})}
		if s.Description != "" {
			op["description"] = s.Description
		}
		paths["/restconf/streams/stream/"+s.Name] = object{"get": op}
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": title, "version": version},
		"paths":   paths,
		"security": []object{
			{"basic": []string{}}, {"bearer": []string{}},
		},
		"components": object{
			"securitySchemes": object{
				"basic":  object{"type": "http", "scheme": "basic"},
				"bearer": object{"type": "http", "scheme": "bearer"},
			},
			"schemas": object{"errors": errorsSchema},
		},
	})
}

// errorsSchema is the errors body of RFC 8040 section 3.9.
var errorsSchema = object{
	"type": "object",
	"properties": object{"errors": object{"type": "object", "properties": object{
		"error": object{"type": "array", "items": object{"type": "object", "properties": object{
			"error-type": object{"type": "string"}, "error-tag": object{"type": "string"},
			"error-path": object{"type": "string"}, "error-message": object{"type": "string"},
		}}},
	}}},
}

func body(s object) object {
	return object{"application/json": object{"schema": s}}
}

func wrap(name string, s object) object {
	return object{"type": "object", "properties": object{name: s}, "required": []string{name}}
}

// answers are the responses of an operation: the one that says it succeeded, and
// the errors that all have in common.
func answers(status, text string, content object) object {
	ok := object{"description": text}
	if content != nil {
		ok["content"] = content
	}
	return object{status: ok, "default": object{
		"description": "What is wrong, every fault with its path", "content": body(object{"$ref": "#/components/schemas/errors"}),
	}}
}

// call describes an rpc.
func call(r *yang.RPC) object {
	op := object{"operationId": r.Module + "_" + r.Name, "tags": []string{r.Module}}
	if r.Description != "" {
		op["description"] = r.Description
	}
	if len(r.Input.Members()) > 0 {
		op["requestBody"] = object{"required": r.NeedsInput(), "content": body(wrap("input", schemaOf(r.Input)))}
	}
	var content object
	if len(r.Output.Members()) > 0 {
		content = body(wrap("output", schemaOf(r.Output)))
	}
	op["responses"] = answers("200", "Done", content)
	return op
}

// resource is the body that carries one data node.
func resource(n *yang.Node) object {
	return object{"type": "object", "properties": object{n.Name: schemaOf(n)}}
}

func operation(tag, does string, n *yang.Node, status, text string, content object) object {
	op := object{"tags": []string{tag}, "summary": does + " " + n.QName(), "responses": answers(status, text, content)}
	if n.Description != "" {
		op["description"] = n.Description
	}
	return op
}

// tree describes the resources of a configuration node: containers and the
// entries of lists with keys.
func tree(paths object, path string, n *yang.Node, parameters []object) {
	if !n.Config || n.IsLeaf() || n.Kind == yang.AnyData || n.Kind == yang.List && len(n.Keys) == 0 {
		return
	}
	if len(n.Keys) > 0 {
		parameters = parameters[:len(parameters):len(parameters)]
		var keys []string
		for _, k := range n.Keys {
			name := unused(n.Name+"_"+k.Name, parameters)
			keys = append(keys, "{"+name+"}")
			parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": typeSchema(k.Type)})
		}
		path += "=" + strings.Join(keys, ",")
	}
	content := body(resource(n))
	item := object{
		"get":    operation(n.Module, "read", n, "200", "The data", content),
		"put":    operation(n.Module, "replace", n, "200", "Replaced; 201 when it is new", nil),
		"patch":  operation(n.Module, "merge", n, "200", "Merged (plain patch, RFC 8040 section 4.6.1)", nil),
		"delete": operation(n.Module, "delete", n, "200", "Deleted", nil),
	}
	for _, verb := range []string{"put", "patch"} {
		item[verb].(object)["requestBody"] = object{"required": true, "content": content}
	}
	if len(parameters) > 0 {
		item["parameters"] = parameters
	}
	paths[path] = item
	for _, c := range n.Members() {
		name := c.Name
		if c.Module != n.Module {
			name = c.QName()
		}
		tree(paths, path+"/"+name, c, parameters)
	}
}

// unused makes a parameter's name unlike those of the lists around it.
func unused(name string, parameters []object) string {
	for _, p := range parameters {
		if p["name"] == name {
			return unused(name+"_", parameters)
		}
	}
	return name
}
