package restconf

import (
	"embed"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

//go:embed yang/*.yang
var ownModules embed.FS

// whenReplay is a condition of ietf-restconf-monitoring, which the server holds to by itself.
var whenReplay = regexp.MustCompile(`when "../replay-support" \{[^}]*\}`)

// ownSchema is the schema of the server's own data: the library of modules
// and the monitoring of RESTCONF.
var ownSchema = sync.OnceValues(func() (*yang.Set, error) {
	src, err := yang.FromFS("restconf", ownModules, "yang")
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for name, text := range src.Files {
		texts[name] = string(text)
		src.Files[name] = whenReplay.ReplaceAll(text, nil)
	}
	set, err := yang.Load(src)
	if err != nil {
		return nil, err
	}
	for _, m := range set.Modules() { // what is served is the text as it was published
		if text, ok := texts[m.Path]; ok {
			m.Text = text
		}
	}
	return set, nil
})

// own returns the server's own data, and reports whether the path is in it.
func (x *exchange) own() bool {
	if len(x.path) == 0 || x.ds == "running" || x.ds == "intended" {
		return false
	}
	top := x.path[0].Decoded
	var value any
	switch top {
	case "ietf-yang-library:modules-state", "ietf-yang-library:yang-library":
		list, err := x.listed()
		if err != nil {
			x.fail(err)
			return true
		}
		value = modulesState(list)
		if top == "ietf-yang-library:yang-library" {
			value = yangLibrary(list)
		}
	case "ietf-restconf-monitoring:restconf-state":
		value = map[string]any{
			"capabilities": map[string]any{"capability": capabilities},
			"streams":      x.streamList(decodedSegments(x.path)),
		}
	default:
		return false
	}
	if !x.methods(allowState, http.MethodGet) {
		return true
	}
	at, p, q, err := x.ownAt(top, value)
	if err == nil {
		if readable := x.o.Readable(x.r.Context()); readable != nil {
			unread(p, at, readable)
		}
		at, err = x.shape(at, q)
	}
	if err != nil {
		x.fail(err)
		return true
	}
	x.replyData(p, at)
	return true
}

// ownAt finds the instance that the path leads to in the value of a top-level node.
func (x *exchange) ownAt(top string, value any) (at *yang.Data, p tree.Path, q query, err error) {
	set, err := ownSchema()
	if err != nil {
		return nil, nil, q, fault.Wrap(fault.Internal, err, "the server's own modules cannot be read")
	}
	if p, err = tree.Parse(set, x.path, nil); err == nil {
		q, err = x.query()
	}
	if err == nil && q.fields != nil {
		err = q.fields.check(p.Node())
	}
	if err != nil {
		return nil, nil, q, absent(err)
	}
	text, err := json.Marshal(map[string]any{top: value})
	if err != nil {
		return nil, nil, q, err
	}
	list, err := set.Root.DecodeMembers(text, yang.Options{})
	if err != nil {
		return nil, nil, q, fault.Wrap(fault.Internal, err, "the server's own state does not match its schema")
	}
	all := yang.NewData(set.Root, false)
	all.Add(list[0])
	at = tree.Descend(all, p)
	if at == nil || q.content == "config" {
		return nil, nil, q, missing(p)
	}
	return at, p, q, nil
}

// capabilities are the optional parts of RFC 8040 that are served.
var capabilities = []string{
	"urn:ietf:params:restconf:capability:defaults:1.0?basic-mode=explicit",
	"urn:ietf:params:restconf:capability:depth:1.0",
	"urn:ietf:params:restconf:capability:fields:1.0",
	"urn:ietf:params:restconf:capability:with-defaults:1.0",
	"urn:ietf:params:restconf:capability:with-origin:1.0", // RFC 8527 section 3.2.2
	"urn:ietf:params:restconf:capability:yang-patch:1.0",
}

func decodedSegments(path []reqpath.Segment) []string {
	var out []string
	for _, s := range path {
		_, key, ok := strings.Cut(s.Decoded, "=")
		if !ok {
			key = s.Decoded
		}
		out = append(out, key)
	}
	return out
}
