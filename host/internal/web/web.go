// Package web serves the console for browsers: one page at / and /login, whose files are below /web/static, and the
// documents that it and other clients read, at /apidoc/ and /yangui/. The sources of the page are in host/web;
// what is embedded here is built from them by `make web`. It works without any other server, and comes
// after access control but for the page's own files, which hold no data.
package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
)

// Options are where the pages get their content; all are required.
type Options struct {
	Schema func() *yang.Set
	// Shown reports whether a module is in the explorer (feature facet "ui").
	Shown func(module string) bool
	// Served reports whether the operations and data of a module are served over REST (feature facet "rest").
	Served func(module string) bool
	// Streams are the event streams that may be followed.
	Streams func() []openapi.Stream
	// Routes are what plugins serve outside of YANG, with their own documents; nil for none.
	Routes  func(context.Context) []openapi.Route
	Version string
	// Store keeps where users have put the nodes of their maps.
	Store datastore.Store
}

// Paths are the subtrees to mount New's handler on, without stripping them; "/"
// itself is for that path alone.
var Paths = [...]string{"/web", "/apidoc", "/yangui"}

// New returns the handler of the pages.
func New(o Options) http.Handler {
	m := http.NewServeMux()
	files := newAssets()
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		files.serveAsset(w, r, "index.html")
	})
	m.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		files.serveAsset(w, r, "index.html")
	})
	m.HandleFunc("GET /web/static/{file}", func(w http.ResponseWriter, r *http.Request) {
		files.serveAsset(w, r, r.PathValue("file"))
	})
	m.HandleFunc("GET /web/places/{topology}", o.servePlaces)
	m.HandleFunc("PUT /web/places/{topology}", o.servePlaces)
	m.HandleFunc("/web", http.NotFound) // else the mux leads to /web/, which comes back as /web
	// Access control has taken a trailing slash away already: both forms lead to the page.
	for from, to := range map[string]string{
		"apidoc": "/#/api",
		"yangui": "/#/yang",
	} {
		lead := func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to, http.StatusSeeOther)
		}
		m.HandleFunc("GET /"+from, lead)
		m.HandleFunc("GET /"+from+"/{$}", lead)
	}
	m.HandleFunc("GET /apidoc/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		o.serveDocument(w, r, "", false)
	})
	m.HandleFunc("GET /apidoc/openapi.yaml", func(w http.ResponseWriter, r *http.Request) {
		o.serveDocument(w, r, "", true)
	})
	m.HandleFunc("GET /apidoc/modules/{file}", func(w http.ResponseWriter, r *http.Request) {
		name, isYAML := strings.CutSuffix(r.PathValue("file"), ".yaml")
		if !isYAML {
			name = strings.TrimSuffix(name, ".json")
		}
		if o.Schema().Module(name) == nil || !o.Shown(name) {
			http.NotFound(w, r)
			return
		}
		o.serveDocument(w, r, name, isYAML)
	})
	m.HandleFunc("GET /web/schema", func(w http.ResponseWriter, _ *http.Request) {
		replyJSON(w, listPages(o.Schema(), func(module string) bool {
			return o.Shown(module) && o.Served(module)
		}, o.Streams()))
	})
	m.HandleFunc("GET /yangui/schema.json", func(w http.ResponseWriter, _ *http.Request) {
		replyJSON(w, listModules(o.Schema(), o.Shown))
	})
	return withPageHeaders(m)
}

// serveDocument answers the OpenAPI document of everything or of one module.
func (o Options) serveDocument(w http.ResponseWriter, r *http.Request, module string, asYAML bool) {
	in := openapi.Input{
		Set:     o.Schema(),
		Title:   "ctl",
		Version: o.Version,
		Streams: o.Streams(),
		Include: o.Shown,
		Module:  module,
	}
	if o.Routes != nil && module == "" {
		in.Routes = o.Routes(r.Context())
	}
	doc, err := openapi.Document(in)
	media := "application/json"
	if err == nil && asYAML {
		media = "application/yaml"
		doc, err = openapi.YAML(doc)
	}
	if err != nil {
		http.Error(w, "the document cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(doc)
}

func replyJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
