// Package restconf serves the installed YANG modules over HTTP: RPCs, the
// configuration and operational trees, the list of modules and event streams.
//
// Two envelopes lie over one implementation: the documented paths of older
// controllers below /restconf, and RFC 8040 below /rests. What is allowed to whom
// was decided before a request arrives here (package aaa); what a plugin serves
// outside of YANG is package plugin's (capability routes).
package restconf

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

const defaultMaxBody = 4 << 20

// Handler is the RESTCONF service. It answers the prefixes that Prefixes lists.
type Handler struct {
	o           Options
	config      *tree.Tree
	operational *tree.Tree
	streamsKept histories
}

// Prefixes are the paths to mount a Handler on, without stripping them.
var Prefixes = [...]string{"/restconf", "/rests", "/operations", "/.well-known/host-meta", "/.well-known/host-meta.json"}

// Resources are what lies below the roots of RESTCONF.
var Resources = [...]string{"data", "operations", "streams", "modules", "ds", "config", "operational", "yang-library-version"}

// New makes a Handler.
func New(o Options) *Handler {
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Readable == nil {
		o.Readable = func(context.Context) func(string) (bool, bool) { return nil }
	}
	if o.Still == nil {
		o.Still = func(context.Context) bool { return true }
	}
	if o.Waiting == nil {
		o.Waiting = func(context.Context) func() { return func() {} }
	}
	return &Handler{
		o:           o,
		config:      &tree.Tree{Store: o.Store, NS: tree.ConfigNamespace, Now: o.Now, Guards: o.Guards, Owners: o.Owners},
		operational: &tree.Tree{Store: o.Store, NS: tree.OperationalNamespace, Volatile: true, Now: o.Now},
	}
}

// Config is the configuration tree, for the rooms and plugins that live by it.
func (h *Handler) Config() *tree.Tree { return h.config }

// Operational is the tree of observed state; plugins write it, clients read it.
func (h *Handler) Operational() *tree.Tree { return h.operational }

// envelope is one of the two ways to write requests and answers.
type envelope struct {
	root  string // "/restconf"
	style yang.Style
	media string   // what is answered to a client that takes anything
	types []string // the same, as a header that must not be changed
}

// noCache is shared by all answers; do not append to a header that is set here.
var noCache = []string{"no-cache"}

var (
	legacy  = &envelope{root: "/restconf", style: yang.Canonical, media: mediaJSON, types: []string{mediaJSON}}
	rfc8040 = &envelope{root: "/rests", style: yang.RFC7951, media: mediaYANGData, types: []string{mediaYANGData}}
)

// name qualifies a name of module ietf-restconf in the RFC 8040 envelope.
func (e *envelope) name(s string) string { return e.qualified("ietf-restconf", s) }

func (e *envelope) qualified(module, s string) string {
	if e == rfc8040 {
		return module + ":" + s
	}
	return s
}

// exchange is one request on its way.
type exchange struct {
	*Handler
	w    http.ResponseWriter
	r    *http.Request
	env  *envelope
	now  *Installed
	path []reqpath.Segment // below the first segment

	anyType    bool   // the client did not say what type the answer should have
	inXML      bool   // the body of the request is XML
	xml        bool   // the answer is XML
	xmlList    bool   // and may hold several instances (mediaXMLList)
	pretty     bool   // and is indented
	withOrigin bool   // and says where each part is from
	ds         string // the datastore of RFC 8527 that is asked; empty elsewhere
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Handler: h, w: w, r: r, env: legacy}
	path, ok := reqpath.From(r.Context())
	if !ok {
		var err error
		if path, err = reqpath.Parse(r); err != nil {
			x.fail(fault.New(fault.Invalid, "%s", err.Error()))
			return
		}
	}
	if r.Method == http.MethodHead {
		x.w = &headWriter{ResponseWriter: w}
	}
	x.path = path.Segments()
	x.route()
}

// route chooses by the first two segments.
func (x *exchange) route() {
	first := x.shift()
	switch first {
	case "rests":
		x.env = rfc8040
	case "restconf":
	case "operations": // documented without a prefix for the certificate RPCs
		if x.accepts() {
			x.operations()
		}
		return
	case ".well-known":
		x.wellKnown()
		return
	default:
		x.notFound()
		return
	}
	x.w.Header()["Cache-Control"] = noCache
	if len(x.path) > 1 && x.path[0].Decoded == "modules" && x.path[1].Decoded != "module" {
		x.shift()
		x.source() // has types of its own
		return
	}
	if !x.accepts() {
		return
	}
	switch second := x.shift(); second {
	case "":
		x.api()
	case "operations":
		x.operations()
	case "modules":
		x.modules()
	case "yang-library-version":
		x.libraryVersion()
	case "streams":
		x.streams()
	case "data":
		x.data(second)
	case "ds":
		x.datastore()
	case "config", "operational":
		if x.env == rfc8040 {
			x.notFound()
			return
		}
		x.data(second)
	default:
		x.notFound()
	}
}

// shift takes the next segment off the path; "" at the end.
func (x *exchange) shift() string {
	if len(x.path) == 0 {
		return ""
	}
	s := x.path[0].Decoded
	x.path = x.path[1:]
	return s
}

// installed is the picture of the modules that this request works with.
func (x *exchange) installed() *Installed {
	if x.now == nil {
		x.now = x.o.Catalog.Installed()
	}
	return x.now
}

func (x *exchange) notFound() {
	x.fail(&statusError{fault.New(fault.NotFound, "there is no such resource"), http.StatusNotFound, "invalid-value"})
}

// methods answers OPTIONS and what is not allowed, and reports whether the
// request goes on. HEAD goes with GET.
func (x *exchange) methods(allow string, have ...string) bool {
	m := x.r.Method
	if m == http.MethodHead {
		m = http.MethodGet
	}
	for _, h := range have {
		if h == m {
			return true
		}
	}
	x.w.Header().Set("Allow", allow)
	if m == http.MethodOptions {
		if strings.Contains(allow, http.MethodPatch) {
			x.w.Header().Set("Accept-Patch", acceptPatch)
		}
		x.w.WriteHeader(http.StatusOK)
		return false
	}
	x.fail(&statusError{fault.New(fault.Unsupported, "this resource accepts %s", allow), http.StatusMethodNotAllowed, "operation-not-supported"})
	return false
}

// headWriter sends the header of an answer without its body.
type headWriter struct{ http.ResponseWriter }

func (w *headWriter) Write(b []byte) (int, error) { return len(b), nil }
