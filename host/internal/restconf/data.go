package restconf

import (
	"net/http"
	"strings"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/yang"
)

const (
	allowData  = "GET, HEAD, OPTIONS, PUT, POST, PATCH, DELETE"
	allowState = "GET, HEAD, OPTIONS"
)

// data serves the trees: /rests/data, /restconf/config and /restconf/operational.
func (x *exchange) data(kind string) {
	if x.static() {
		return
	}
	p, err := x.target()
	if err != nil {
		x.fail(err)
		return
	}
	if kind == "operational" || len(p) > 0 && !p.Node().Config {
		if x.methods(allowState, http.MethodGet) {
			x.get(kind, p)
		}
		return
	}
	if !x.methods(allowData, http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete) {
		return
	}
	switch x.r.Method {
	case http.MethodPut:
		x.put(p)
	case http.MethodPost:
		x.post(p)
	case http.MethodPatch:
		x.patch(p)
	case http.MethodDelete:
		x.delete(p)
	default:
		x.get(kind, p)
	}
}

// target reads the rest of the path. A node that the schema does not have is 404,
// as what is not there.
func (x *exchange) target() (tree.Path, error) {
	segments := make([]tree.Segment, len(x.path))
	for i, s := range x.path {
		segments[i] = tree.Segment{Raw: s.Raw, Decoded: s.Decoded}
	}
	now := x.installed()
	p, err := tree.Parse(now.Schema, segments, now.Aliases.Module)
	if err == nil && len(p) > 0 && !now.served(p[0].Node.Module) {
		err = fault.New(fault.Unknown, "there is no node %q", p[0].Node.QName())
	}
	if f := fault.All(err); err != nil && f[0].Kind == fault.Unknown {
		return nil, &statusError{f[0], http.StatusNotFound, "unknown-element"}
	}
	return p, err
}

// static answers the containers that the server itself maintains: the library of
// modules and the monitoring of RESTCONF.
func (x *exchange) static() bool {
	if len(x.path) == 0 {
		return false
	}
	module, name, _ := strings.Cut(x.path[0].Decoded, ":")
	var value any
	switch x.path[0].Decoded {
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
	for _, s := range x.path[1:] {
		c, ok := value.(map[string]any)
		if ok {
			value, ok = c[s.Decoded]
		}
		if !ok {
			x.notFound()
			return true
		}
		name = s.Decoded
	}
	x.replyValue(map[string]any{x.env.qualified(module, name): value})
	return true
}

// capabilities are the optional parts of RFC 8040 that are served.
var capabilities = []string{
	"urn:ietf:params:restconf:capability:defaults:1.0?basic-mode=explicit",
	"urn:ietf:params:restconf:capability:depth:1.0",
	"urn:ietf:params:restconf:capability:fields:1.0",
	"urn:ietf:params:restconf:capability:with-defaults:1.0",
	"urn:ietf:params:restconf:capability:yang-patch:1.0",
}

// missing answers that there is nothing at a path.
func missing(p tree.Path) error {
	return fault.At(fault.NotFound, p.String(), "there is no such data")
}

// member writes {"name": value} for the instance at a path.
func (x *exchange) member(p tree.Path, at *yang.Data) []byte {
	name := x.env.name("data")
	if n := p.Node(); n != nil {
		name = x.env.qualified(n.Module, n.Name)
	}
	buf := append(append([]byte(`{"`), name...), `":`...)
	if p.Entry() {
		buf = append(buf, '[')
	}
	buf = at.Append(buf, x.env.style)
	if p.Entry() {
		buf = append(buf, ']')
	}
	return append(buf, '}')
}
