// Package restconf serves the installed YANG modules over HTTP: RPCs, the
// configuration and operational trees, the list of modules and event streams.
//
// Two envelopes lie over one implementation: the documented paths of older
// controllers below /restconf, and RFC 8040 below /rests. What is allowed to whom
// was decided before a request arrives here (package aaa); what a plugin serves
// outside of YANG is package plugin's (capability routes).
package restconf

import (
	"errors"
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
	subscribed  subscriptions
}

// Prefixes are the paths to mount a Handler on, without stripping them.
var Prefixes = [...]string{"/restconf", "/rests", "/operations", "/subscriptions", "/.well-known/host-meta", "/.well-known/host-meta.json"}

// Resources are what lies below the roots of RESTCONF.
var Resources = [...]string{"data", "operations", "streams", "subscriptions", "modules", "ds", "config", "operational", "yang-library-version"}

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
	return &Handler{
		o: o,
		config: &tree.Tree{
			Store:      o.Store,
			NS:         tree.ConfigNamespace,
			Now:        o.Now,
			Validators: o.Validators,
			Owners:     o.Owners,
		},
		operational: &tree.Tree{
			Store:    o.Store,
			NS:       tree.OperationalNamespace,
			Volatile: true,
			Now:      o.Now,
		},
	}
}

// Config is the configuration tree, for the rooms and plugins that live by it.
func (h *Handler) Config() *tree.Tree { return h.config }

// Operational is the tree of observed state; plugins write it, clients read it.
func (h *Handler) Operational() *tree.Tree {
	return h.operational
}

// envelope is one of the two ways to write requests and answers.
type envelope struct {
	root  string // "/restconf"
	style yang.Style
	media string   // what is answered to a client that takes anything
	types []string // the same, as a header that is never changed
}

// noCache is shared by all answers: no header that is set here is appended to.
var noCache = []string{"no-cache"}

var (
	legacy = &envelope{
		root:  "/restconf",
		style: yang.Canonical,
		media: mediaJSON,
		types: []string{mediaJSON},
	}
	rfc8040 = &envelope{
		root:  "/rests",
		style: yang.RFC7951,
		media: mediaYANGData,
		types: []string{mediaYANGData},
	}
)

// qualifyName qualifies a name of module ietf-restconf in the RFC 8040 envelope.
func (e *envelope) qualifyName(s string) string {
	return e.qualifiedName("ietf-restconf", s)
}

func (e *envelope) qualifiedName(module, s string) string {
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
	own        bool   // what the server says of itself is asked (ownTops)
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Handler: h, w: w, r: r, env: legacy}
	path, ok := reqpath.From(r.Context())
	if !ok {
		var err error
		if path, err = reqpath.Parse(r); err != nil {
			if strings.HasPrefix(r.URL.Path, rfc8040.root+"/") {
				x.env = rfc8040
			}
			x.answerError(fault.New(fault.Invalid, "%s", err.Error()))
			return
		}
	}
	if r.Method == http.MethodHead {
		x.w = &headWriter{ResponseWriter: w}
	}
	x.path = path.Segments()
	segments := x.path
	err := x.routeRequest()
	if err != nil && !errors.Is(err, errAnswered) {
		if absent := x.absentModuleError(segments); absent != nil {
			err = absent
		}
		x.answerError(err)
	}
}

// absentModuleError says why the module that a path names is not served although it is installed; nil = it is not, or it is served.
func (x *exchange) absentModuleError(path []reqpath.Segment) error {
	if x.o.Absent == nil {
		return nil
	}
	for _, s := range path {
		module, _, named := strings.Cut(s.Decoded, ":")
		if !named {
			continue
		}
		now := x.installed()
		if real, _, _ := now.Aliases.Resolve(module, ""); now.Schema.Module(real) != nil {
			return nil
		}
		return x.o.Absent(module)
	}
	return nil
}

// errAnswered is the error of a request that needs no further answer.
var errAnswered = errors.New("the request is answered")

// routeRequest chooses by the first two segments. The error of a handler is what is answered.
func (x *exchange) routeRequest() error {
	first := x.shiftSegment()
	switch first {
	case "rests":
		x.env = rfc8040
	case "restconf":
	case "operations": // documented without a prefix for the certificate RPCs
		if err := x.chooseAnswerType(); err != nil {
			return err
		}
		return x.serveOperations()
	case "subscriptions": // the address of OpenDaylight's guide
		x.w.Header()["Cache-Control"] = noCache
		if err := x.chooseAnswerType(); err != nil {
			return err
		}
		return x.serveReadOnly(x.serveSubscription)
	case ".well-known":
		return x.wellKnown()
	default:
		return x.notFound()
	}
	x.w.Header()["Cache-Control"] = noCache
	if len(x.path) > 1 && x.path[0].Decoded == "modules" && x.path[1].Decoded != "module" {
		x.shiftSegment()
		return x.serveSource() // has types of its own
	}
	if err := x.chooseAnswerType(); err != nil {
		return err
	}
	switch second := x.shiftSegment(); {
	case second == "":
		return x.serveReadOnly(x.serveAPI)
	case second == "operations":
		return x.serveOperations()
	case second == "modules":
		return x.serveReadOnly(x.serveModules)
	case second == "yang-library-version":
		return x.serveReadOnly(x.libraryVersion)
	case second == "streams":
		return x.serveReadOnly(x.serveStreams)
	case second == "subscriptions":
		return x.serveReadOnly(x.serveSubscription)
	case second == "ds":
		return x.serveDatastore()
	case second == "data", x.env == legacy && (second == "config" || second == "operational"):
		return x.serveData(second)
	}
	return x.notFound()
}

// shiftSegment takes the next segment off the path; "" at the end.
func (x *exchange) shiftSegment() string {
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

func (x *exchange) notFound() error {
	return fault.New(fault.NotFound, "there is no such resource")
}

// checkMethod answers OPTIONS, and fails for a method that is not among those of allow.
func (x *exchange) checkMethod(allow string) error {
	m := x.r.Method
	for one := range strings.SplitSeq(allow, ", ") {
		if m == one && m != http.MethodOptions {
			return nil
		}
	}
	x.w.Header().Set("Allow", allow)
	if m != http.MethodOptions {
		return &statusError{fault.New(
			fault.Unsupported,
			"this resource takes %s",
			allow,
		), http.StatusMethodNotAllowed, "operation-not-supported"}
	}
	if strings.Contains(allow, http.MethodPatch) {
		x.w.Header().Set("Accept-Patch", acceptPatch)
	}
	x.w.WriteHeader(http.StatusOK)
	return errAnswered
}

// serveReadOnly runs the handler of a resource that is only read.
func (x *exchange) serveReadOnly(handler func() error) error {
	if err := x.checkMethod(allowState); err != nil {
		return err
	}
	return handler()
}

// headWriter sends the header of an answer without its body.
type headWriter struct{ http.ResponseWriter }

func (w *headWriter) Write(b []byte) (int, error) {
	return len(b), nil
}
