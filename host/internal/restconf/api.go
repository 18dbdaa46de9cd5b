package restconf

import "strings"

// libraryRevision is the revision of ietf-yang-library that is served (RFC 8525).
const libraryRevision = "2019-01-04"

// serveAPI answers the API resource (RFC 8040 section 3.3).
func (x *exchange) serveAPI() error {
	api := map[string]any{
		"operations":           map[string]any{},
		"yang-library-version": libraryRevision,
	}
	if x.env == rfc8040 {
		api["data"] = map[string]any{}
	} else {
		for _, tree := range [...]string{"config", "operational", "modules", "streams"} {
			api[tree] = map[string]any{}
		}
	}
	return x.replyValue(map[string]any{x.env.qualifyName("restconf"): api})
}

func (x *exchange) libraryVersion() error {
	name := x.env.qualifyName("yang-library-version")
	if !x.xml {
		return x.replyBody([]byte(`{"` + name + `":"` + libraryRevision + `"}`))
	}
	return x.replyValue(map[string]string{name: libraryRevision})
}

// moduleEntry is one module of the documented …/modules.
type moduleEntry struct {
	Name      string `json:"name"`
	Revision  string `json:"revision"`
	Namespace string `json:"namespace"`
}

// serveModules answers …/modules and …/modules/module/name/revision.
func (x *exchange) serveModules() error {
	listed, err := x.listModules()
	if err != nil {
		return err
	}
	all, kind := len(x.path) == 0, x.shiftSegment()
	name, revision := x.shiftSegment(), x.shiftSegment()
	list := []moduleEntry{}
	for _, m := range listed {
		if (name == "" || m.Name == name) && (revision == "" || m.Revision == revision) {
			list = append(list, moduleEntry{m.Name, m.Revision, m.Namespace})
		}
	}
	switch {
	case all:
		return x.replyValue(map[string]any{"modules": map[string]any{"module": list}})
	case kind != "module" || len(x.path) > 0 || len(list) == 0:
		return x.notFound()
	}
	return x.replyValue(map[string]any{"module": list})
}

// wellKnown answers where the RESTCONF root is (RFC 8040 section 3.1).
func (x *exchange) wellKnown() error {
	kind := x.shiftSegment()
	if (kind != "host-meta" && kind != "host-meta.json") || len(x.path) > 0 {
		return x.notFound()
	}
	if err := x.checkMethod(allowState); err != nil {
		return err
	}
	if kind == "host-meta.json" || strings.Contains(x.r.Header.Get("Accept"), "json") {
		x.w.Header().Set("Content-Type", "application/jrd+json")
		return x.replyValue(map[string]any{"links": []any{map[string]string{
			"rel":  "restconf",
			"href": x.discoveredRoot(),
		}}})
	}
	x.w.Header().Set("Content-Type", "application/xrd+xml")
	return x.replyBody([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="restconf" href="` + x.discoveredRoot() + `"/></XRD>
`))
}
