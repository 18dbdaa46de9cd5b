package restconf

import (
	"embed"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/yang"
)

//go:embed yang/*.yang
var ownModules embed.FS

// ownSchema is the schema of what the server tells of itself: the library of modules
// and the monitoring of RESTCONF.
var ownSchema = sync.OnceValues(func() (*yang.Set, error) {
	src, err := yang.FromFS("restconf", ownModules, "yang")
	if err != nil {
		return nil, err
	}
	return yang.Load(src)
})

// own answers what the server tells of itself, and reports whether the path leads there.
func (x *exchange) own() bool {
	if len(x.path) == 0 {
		return false
	}
	top := x.path[0].Decoded
	var value any
	switch top {
	case "ietf-yang-library:modules-state":
		value = modulesState(x.installed())
	case "ietf-restconf-monitoring:restconf-state":
		value = map[string]any{
			"capabilities": map[string]any{"capability": capabilities},
			"streams":      x.streamList(),
		}
	default:
		return false
	}
	if !x.methods(allowState, http.MethodGet) {
		return true
	}
	at, p, q, err := x.ownAt(top, value)
	if err == nil {
		at, err = x.shape(at, q)
	}
	if err != nil {
		x.fail(err)
		return true
	}
	x.reply(x.member(p, at))
	return true
}

// ownAt finds the instance that the path leads to in the value of a top-level node.
func (x *exchange) ownAt(top string, value any) (at *yang.Data, p tree.Path, q query, err error) {
	set, err := ownSchema()
	if err != nil {
		return nil, nil, q, fault.Wrap(fault.Internal, err, "the server's own modules cannot be read")
	}
	if p, err = parsed(set, x.path, nil); err == nil {
		q, err = x.query()
	}
	if err == nil && q.fields != nil {
		err = q.fields.check(p.Node())
	}
	if err != nil {
		return nil, nil, q, err
	}
	text, err := json.Marshal(map[string]any{top: value})
	if err != nil {
		return nil, nil, q, err
	}
	list, err := set.Root.DecodeMembers(text, yang.Options{})
	if err != nil {
		return nil, nil, q, fault.Wrap(fault.Internal, err, "the server's own state does not fit its schema")
	}
	at = list[0]
	for i, step := range p {
		if i > 0 {
			at = at.Get(step.Node)
		}
		if at != nil && step.Keys != nil {
			at = at.Entry(step.Keys)
		}
		if at == nil {
			break
		}
	}
	if at == nil || q.content == "config" {
		return nil, nil, q, missing(p)
	}
	return at, p, q, nil
}

// modulesState is container modules-state of ietf-yang-library (RFC 7895).
func modulesState(now *Installed) map[string]any {
	type module struct {
		Name        string   `json:"name"`
		Revision    string   `json:"revision"`
		Schema      string   `json:"schema,omitempty"`
		Namespace   string   `json:"namespace"`
		Features    []string `json:"feature,omitempty"`
		Conformance string   `json:"conformance-type"`
	}
	list := []module{}
	for _, m := range now.Schema.Modules() {
		c := "import"
		if m.Implemented {
			c = "implement"
		}
		list = append(list, module{Name: m.Name, Revision: m.Revision, Namespace: m.Namespace, Features: m.Features, Conformance: c})
	}
	return map[string]any{"module-set-id": setID(now.Schema), "module": list}
}

// setID changes whenever a module comes or goes.
func setID(s *yang.Set) string {
	var names []string
	for _, m := range s.Modules() {
		names = append(names, m.Name+"@"+m.Revision)
	}
	return digest(strings.Join(names, " "))
}

// capabilities are the optional parts of RFC 8040 that are served.
var capabilities = []string{
	"urn:ietf:params:restconf:capability:defaults:1.0?basic-mode=explicit",
	"urn:ietf:params:restconf:capability:depth:1.0",
	"urn:ietf:params:restconf:capability:fields:1.0",
	"urn:ietf:params:restconf:capability:with-defaults:1.0",
	"urn:ietf:params:restconf:capability:yang-patch:1.0",
}
