package restconf

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

//go:embed yang/*.yang
var ownModules embed.FS

// ownSchema is the schema of what the server says of itself: the library of modules
// and the monitoring of RESTCONF.
var ownSchema = sync.OnceValues(func() (*yang.Set, error) {
	src, err := yang.FromFS("restconf", ownModules, "yang")
	if err != nil {
		return nil, err
	}
	return yang.Load(src)
})

// The top-level nodes of what the server says of itself.
const (
	modulesStateTop = "ietf-yang-library:modules-state"
	yangLibraryTop  = "ietf-yang-library:yang-library"
	monitoringTop   = "ietf-restconf-monitoring:restconf-state"
	subscribedTop   = "ietf-subscribed-notifications:subscriptions"
)

var ownTops = map[string]bool{
	modulesStateTop: true,
	yangLibraryTop:  true,
	monitoringTop:   true,
	subscribedTop:   true,
}

// ownAt is the instance at a path of what the server says of itself, nil if there is none.
func (x *exchange) ownAt(p tree.Path) (*yang.Data, error) {
	list, err := x.listModules()
	if err != nil {
		return nil, err
	}
	var value any
	top := p[0].Node
	switch top.QName() {
	case modulesStateTop:
		value = modulesState(list)
	case yangLibraryTop:
		value = yangLibrary(list)
	case subscribedTop:
		value = x.listSubscriptions()
	default:
		value = map[string]any{
			"capabilities": map[string]any{"capability": capabilities},
			"streams":      x.streamList(decodedSegments(x.path)),
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	at, err := top.DecodeValue(text, yang.Options{})
	if err != nil {
		return nil, fault.Wrap(
			fault.Internal,
			err,
			"the server's own state does not fit its schema",
		)
	}
	return tree.Descend(at, p[1:]), nil
}

// capabilities are the optional parts of RFC 8040 that are served.
var capabilities = []string{
	"urn:ietf:params:restconf:capability:defaults:1.0?basic-mode=explicit",
	"urn:ietf:params:restconf:capability:depth:1.0",
	"urn:ietf:params:restconf:capability:fields:1.0",
	"urn:ietf:params:restconf:capability:filter:1.0",
	"urn:ietf:params:restconf:capability:replay:1.0",
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
