// Package openapi writes the installed YANG modules as an OpenAPI 3.0 document,
// for the API explorer and for client generators. What is served, and how, is
// decided in package restconf.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/yang"
)

// Stream is an event stream that can be followed.
type Stream struct{ Name, Description string }

// Route is a subtree of paths that a plugin serves.
type Route struct {
	Path, Summary string
	Document      []byte // OpenAPI of the plugin itself, as JSON; nil when it has none
}

// Input is what a document is made of.
type Input struct {
	Set            *yang.Set
	Title, Version string
	Streams        []Stream
	Routes         []Route
	Include        func(module string) bool
	// Module makes a document of that module alone; empty: of everything that is served.
	Module string
}

// document is an OpenAPI 3.1 document that is being written.
type document struct {
	Input
	paths   object
	schemas object
	ids     map[string]bool
}

// Document writes what is served as OpenAPI 3.1, in JSON: the operations and data of the modules
// that Include asks for, in both envelopes, and in the document of everything also event streams,
// access control, the resources of RFC 8040 and the routes of plugins.
func Document(in Input) ([]byte, error) {
	d := &document{
		Input:   in,
		paths:   object{},
		schemas: object{"errors": errorsSchema},
		ids:     map[string]bool{},
	}
	for _, m := range in.Set.Modules() {
		if !in.Include(m.Name) || in.Module != "" && m.Name != in.Module {
			continue
		}
		for _, r := range m.RPCs {
			d.describeRPC(r)
		}
		for _, n := range m.Data {
			d.describeData(n)
		}
	}
	if in.Module == "" {
		d.addServices()
		for _, r := range in.Routes {
			if err := d.addRoute(r); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title":   in.Title,
			"version": in.Version,
			"license": object{
				"name":       "Apache License 2.0",
				"identifier": "Apache-2.0",
			},
		},
		"servers": []object{{"url": "/"}},
		"paths":   d.paths,
		"security": []object{
			{"basic": []string{}}, {"bearer": []string{}},
		},
		"components": object{
			"securitySchemes": object{
				"basic": object{
					"type":   "http",
					"scheme": "basic",
				},
				"bearer": object{
					"type":   "http",
					"scheme": "bearer",
				},
			},
			"schemas":    d.schemas,
			"parameters": sharedParameters,
		},
	})
}

// YAML writes a document of JSON as YAML.
func YAML(doc []byte) ([]byte, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(doc, &n); err != nil {
		return nil, err
	}
	clearStyle(&n)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&n); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil { // writes the rest
		return nil, err
	}
	return b.Bytes(), nil
}

// clearStyle takes the style of JSON away; the encoder quotes strings that would mean something else.
func clearStyle(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		clearStyle(c)
	}
}

// operationID makes an operationId of a verb and a path, which no other operation has.
func (d *document) operationID(verb, path string) string {
	var b strings.Builder
	b.WriteString(verb)
	gap := true
	for _, c := range path {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			if gap {
				b.WriteByte('_')
			}
			b.WriteRune(c)
			gap = false
		} else {
			gap = true
		}
	}
	id := shortenName(b.String())
	for i := 2; d.ids[id]; i++ {
		id = fmt.Sprintf("%s_%d", shortenName(b.String()), i)
	}
	d.ids[id] = true
	return id
}

// errorsSchema is the errors body of RFC 8040 section 3.9.
var errorsSchema = object{
	"type": "object",
	"properties": object{
		"errors":               errorList,
		"ietf-restconf:errors": errorList,
	},
}

var errorList = object{"type": "object", "properties": object{
	"error": object{
		"type": "array",
		"items": object{"type": "object", "properties": object{
			"error-type":    object{"type": "string"},
			"error-tag":     object{"type": "string"},
			"error-path":    object{"type": "string"},
			"error-message": object{"type": "string"},
		}},
	},
}}

// bodyContent is a body in JSON, and without a schema in XML.
func (f form) bodyContent(s object) object {
	if f.rfc {
		return object{
			"application/yang-data+json": object{"schema": s},
			"application/yang-data+xml":  object{},
		}
	}
	return object{
		"application/json": object{"schema": s},
		"application/xml":  object{},
	}
}

// wrap is the body that carries the input or output of an operation.
func (f form) wrap(name string, n *yang.Node, label string) object {
	s := object{
		"type":       "object",
		"properties": object{name: f.schemaOf(n, label)},
		"required":   []string{name},
	}
	return f.bodySchema(n, label, s)
}

// operationResponses are the responses of an operation: the one that says it succeeded, and
// the errors that all have in common.
func (f form) operationResponses(status, text string, content object) object {
	ok := object{"description": text}
	if content != nil {
		ok["content"] = content
	}
	media := "application/json"
	if f.rfc {
		media = "application/yang-data+json"
	}
	return object{status: ok, "default": object{
		"description": "What is wrong, every fault with its path",
		"content":     object{media: object{"schema": object{"$ref": "#/components/schemas/errors"}}},
	}}
}

// forms are the two ways to write instances.
func (d *document) forms() [2]form {
	return [2]form{{false, d.schemas}, {true, d.schemas}}
}

// sharedParameters are the query parameters of RFC 8040 section 4.8, those of pages, and the conditions of RFC 9110.
var sharedParameters = object{
	"content": queryOf(
		"content",
		"Configuration, state, or both.",
		object{
			"type": "string",
			"enum": []string{"all", "config", "nonconfig"},
		},
	),
	"depth": queryOf(
		"depth",
		"How many levels are answered: a number from 1, or unbounded.",
		object{"type": "string"},
	),
	"fields": queryOf("fields", "Which members are answered.", object{"type": "string"}),
	"with-defaults": queryOf(
		"with-defaults",
		"How defaults are answered.",
		object{
			"type": "string",
			"enum": []string{"report-all", "trim", "explicit"},
		},
	),
	"insert": queryOf(
		"insert",
		"The place in a list that is ordered by the user.",
		object{
			"type": "string",
			"enum": []string{"first", "last", "before", "after"},
		},
	),
	"point": queryOf(
		"point",
		"The path of the entry that before and after are about.",
		object{"type": "string"},
	),
	"where": queryOf(
		"where",
		"An expression of XPath that entries must satisfy.",
		object{"type": "string"},
	),
	"limit": queryOf(
		"limit",
		"How many entries are answered.",
		object{
			"type":    "integer",
			"format":  "int32",
			"minimum": 1,
		},
	),
	"offset": queryOf(
		"offset",
		"How many entries are left out first.",
		object{
			"type":    "integer",
			"format":  "int32",
			"minimum": 0,
		},
	),
	"cursor": queryOf(
		"cursor",
		"The entry to begin with, from a header Link.",
		object{"type": "string"},
	),
	"sort-by": queryOf("sort-by", "The leaf to sort by.", object{"type": "string"}),
	"direction": queryOf(
		"direction",
		"The direction of the list.",
		object{
			"type": "string",
			"enum": []string{"forwards", "backwards"},
		},
	),
	"if-match": object{
		"name":        "If-Match",
		"in":          "header",
		"description": "The write is made only if the data has this entity-tag.",
		"schema":      object{"type": "string"},
	},
	"if-none-match": object{
		"name":        "If-None-Match",
		"in":          "header",
		"description": "Nothing is done if the data has this entity-tag.",
		"schema":      object{"type": "string"},
	},
}

func queryOf(name, description string, schema object) object {
	return object{
		"name":        name,
		"in":          "query",
		"description": description,
		"schema":      schema,
	}
}

// addParameters adds references to shared parameters to an operation.
func addParameters(op object, names ...string) {
	list, _ := op["parameters"].([]object)
	for _, n := range names {
		list = append(list, object{"$ref": "#/components/parameters/" + n})
	}
	op["parameters"] = list
}

// describeData describes the resources of a top-level node.
func (d *document) describeData(n *yang.Node) {
	legacy, rfc := d.forms()[0], d.forms()[1]
	d.describeTree(legacy, "/restconf/config/"+n.QName(), n, nil)
	d.describeTree(rfc, "/rests/data/"+n.QName(), n, nil)
	d.actions(rfc, "/rests/data/"+n.QName(), n, nil)
	if n.IsLeaf() || n.Kind == yang.AnyData {
		return
	}
	path := "/restconf/operational/" + n.QName()
	d.paths[path] = object{"get": d.newOperation(
		"get",
		path,
		"read state",
		n,
		legacy.operationResponses("200", "The state", legacy.bodyContent(legacy.resourceSchema(n))),
	)}
	if path = "/rests/data/" + n.QName(); d.paths[path] == nil && n.Kind != yang.List {
		d.paths[path] = object{"get": d.newOperation(
			"get",
			path,
			"read state",
			n,
			rfc.operationResponses("200", "The state", rfc.bodyContent(rfc.resourceSchema(n))),
		)}
	}
}

// resourceSchema is the body that carries one data node.
func (f form) resourceSchema(n *yang.Node) object {
	name := n.Name
	if f.rfc {
		name = n.QName()
	}
	return f.bodySchema(
		n,
		n.Module,
		object{
			"type":       "object",
			"properties": object{name: f.schemaOf(n, n.Module)},
		},
	)
}

func (d *document) newOperation(verb, path, does string, n *yang.Node, responses object) object {
	op := object{
		"operationId": d.operationID(verb, path),
		"tags":        []string{n.Module},
		"summary":     does + " " + n.QName(),
		"responses":   responses,
	}
	if n.Description != "" {
		op["description"] = n.Description
	}
	return op
}

// describeTree describes the resources of a configuration node: containers and the
// entries of lists with keys.
func (d *document) describeTree(f form, path string, n *yang.Node, parameters []object) {
	if !n.Config ||
		n.IsLeaf() ||
		n.Kind == yang.AnyData ||
		n.Kind == yang.List && len(n.Keys) == 0 {
		return
	}
	path, parameters = f.withKeys(path, n, parameters)
	content := f.bodyContent(f.resourceSchema(n))
	status := "200"
	if f.rfc {
		status = "204"
	}
	item := object{
		"get": d.newOperation(
			"get",
			path,
			"read",
			n,
			f.operationResponses("200", "The data", content),
		),
		"put": d.newOperation(
			"put",
			path,
			"replace",
			n,
			f.operationResponses(status, "Replaced; 201 when it is new", nil),
		),
		"patch": d.newOperation(
			"patch",
			path,
			"merge",
			n,
			f.operationResponses(status, "Merged (plain patch, RFC 8040 section 4.6.1)", nil),
		),
		"delete": d.newOperation(
			"delete",
			path,
			"delete",
			n,
			f.operationResponses(status, "Deleted", nil),
		),
	}
	item["put"].(object)["responses"].(object)["201"] = object{"description": "Created"}
	created := f.operationResponses("201", "Created; its address is in Location", nil)
	item["post"] = d.newOperation("post", path, "create a child of", n, created)
	item["post"].(object)["requestBody"] = object{
		"required": true,
		"content": f.bodyContent(object{
			"type":        "object",
			"description": "One member: the child",
		}),
	}
	d.parametersOf(f, item, n.UserOrdered)
	for _, verb := range []string{"put", "patch"} {
		item[verb].(object)["requestBody"] = object{
			"required": true,
			"content":  content,
		}
	}
	if len(parameters) > 0 {
		item["parameters"] = parameters
	}
	d.paths[path] = item
	if n.Kind == yang.List {
		d.describeList(
			f,
			path[:strings.LastIndexByte(path, '=')],
			n,
			parameters[:len(parameters)-len(n.Keys)],
		)
	}
	for _, c := range n.Members() {
		d.describeTree(f, path+"/"+memberName(c, n), c, parameters)
	}
}

// parametersOf adds the query parameters and conditions that the operations of a resource take.
func (d *document) parametersOf(f form, item object, ordered bool) {
	if !f.rfc {
		return
	}
	addParameters(
		item["get"].(object),
		"content",
		"depth",
		"fields",
		"with-defaults",
		"if-none-match",
	)
	for _, verb := range []string{"put", "patch", "delete", "post"} {
		if op, ok := item[verb].(object); ok {
			addParameters(op, "if-match")
			if ordered && verb == "put" || verb == "post" {
				addParameters(op, "insert", "point")
			}
		}
	}
}

// describeList describes a whole list with keys; parameters are those of the lists around it.
func (d *document) describeList(f form, path string, n *yang.Node, parameters []object) {
	if d.paths[path] != nil {
		return
	}
	content := f.bodyContent(f.resourceSchema(n))
	status := "200"
	if f.rfc {
		status = "204"
	}
	item := object{
		"get": d.newOperation(
			"list",
			path,
			"read all entries of",
			n,
			f.operationResponses("200", "The entries", content),
		),
		"put": d.newOperation(
			"put_all",
			path,
			"replace all entries of",
			n,
			f.operationResponses(status, "Replaced; 201 when there were none", nil),
		),
		"delete": d.newOperation(
			"delete_all",
			path,
			"delete all entries of",
			n,
			f.operationResponses(status, "Deleted", nil),
		),
	}
	item["put"].(object)["requestBody"] = object{
		"required": true,
		"content":  content,
	}
	d.parametersOf(f, item, false)
	if f.rfc {
		addParameters(
			item["get"].(object),
			"where",
			"sort-by",
			"direction",
			"cursor",
			"offset",
			"limit",
		)
	}
	if len(parameters) > 0 {
		item["parameters"] = parameters
	}
	d.paths[path] = item
}

// toIdentifier makes a name that all generators of clients take.
func toIdentifier(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

// unusedName makes a parameter's name unlike those of the lists around it.
func unusedName(name string, parameters []object) string {
	for _, p := range parameters {
		if p["name"] == name {
			return unusedName(name+"_", parameters)
		}
	}
	return name
}
