package openapi

import (
	"strings"

	"ctl.internal/internal/yang"
)

// describeRPC describes an rpc.
func (d *document) describeRPC(r *yang.RPC) {
	for _, f := range d.forms() {
		path := "/restconf/operations/" + r.Module + ":" + r.Name
		if f.rfc {
			path = "/rests/operations/" + r.Module + ":" + r.Name
		}
		d.paths[path] = object{"post": d.invocation(f, r, path, r.Module+"_"+r.Name)}
	}
}

// invocation describes the call of an rpc or action at a path. label distinguishes its schemas from those of others.
func (d *document) invocation(f form, r *yang.RPC, path, label string) object {
	in, out := "input", "output"
	if f.rfc {
		in, out = r.Module+":input", r.Module+":output"
	}
	op := object{
		"operationId": d.operationID("call", path),
		"tags":        []string{r.Module},
	}
	if r.Description != "" {
		op["description"] = r.Description
	}
	if len(r.Input.Members()) > 0 {
		op["requestBody"] = object{
			"required": r.NeedsInput(),
			"content":  f.bodyContent(f.wrap(in, r.Input, label)),
		}
	}
	switch {
	case len(r.Output.Members()) > 0:
		op["responses"] = f.operationResponses(
			"200",
			"Done",
			f.bodyContent(f.wrap(out, r.Output, label)),
		)
	case f.rfc:
		op["responses"] = f.operationResponses("204", "Done", nil)
	default:
		op["responses"] = f.operationResponses("200", "Done", nil)
	}
	return op
}

// actions describes the actions of a node and of all below it, which are served below the data that they are bound to.
func (d *document) actions(f form, path string, n *yang.Node, parameters []object) {
	if n.IsLeaf() || n.Kind == yang.List && len(n.Keys) == 0 {
		return
	}
	path, parameters = f.withKeys(path, n, parameters)
	for _, r := range n.Actions {
		at := path + "/" + r.Name
		if r.Module != n.Module {
			at = path + "/" + r.Module + ":" + r.Name
		}
		label := toIdentifier(strings.TrimPrefix(at, "/rests/data/"))
		item := object{"post": d.invocation(f, r, at, label)}
		if len(parameters) > 0 {
			item["parameters"] = parameters
		}
		d.paths[at] = item
	}
	for _, m := range n.Members() {
		d.actions(f, path+"/"+memberName(m, n), m, parameters)
	}
}

// memberName is the name of a node below another one.
func memberName(m, n *yang.Node) string {
	if m.Module != n.Module {
		return m.QName()
	}
	return m.Name
}

// withKeys adds the keys of a list to a path, and to the parameters of the lists around it.
func (f form) withKeys(path string, n *yang.Node, parameters []object) (string, []object) {
	if len(n.Keys) == 0 {
		return path, parameters
	}
	parameters = parameters[:len(parameters):len(parameters)]
	var keys []string
	for _, k := range n.Keys {
		name := unusedName(toIdentifier(n.Name+"_"+k.Name), parameters)
		keys = append(keys, "{"+name+"}")
		parameters = append(
			parameters,
			object{
				"name":     name,
				"in":       "path",
				"required": true,
				"schema":   f.keySchema(k.Type),
			},
		)
	}
	return path + "=" + strings.Join(keys, ","), parameters
}
