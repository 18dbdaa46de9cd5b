// Package web serves the pages for a browser: the state of the controller with its
// topology at /, the API explorer at /apidoc/ and the YANG tree at /yangui/. All of
// it is embedded and works without any other server. It comes after access
// control like everything else; the trees themselves are package restconf's.
package web

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
)

//go:embed static
var static embed.FS

// Status is what the first page shows.
type Status struct {
	Version  string    `json:"version"`
	Started  string    `json:"started"` // RFC 3339
	Plugins  []Plugin  `json:"plugins"`
	Features []Feature `json:"features"`
}

// Plugin is a plugin's state.
type Plugin struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Restarts int    `json:"restarts"`
	Calls    uint64 `json:"calls"`
	Serving  bool   `json:"serving"`
}

// Feature is an installed feature.
type Feature struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Options are where the pages get their content; all are required.
type Options struct {
	Status func() Status
	Schema func() *yang.Set
	// Shown reports whether a module is in the explorer (feature facet "ui").
	Shown func(module string) bool
	// Streams are the event streams that may be followed.
	Streams func() []openapi.Stream
	// Routes are what plugins serve outside of YANG, with their own documents; nil for none.
	Routes  func(context.Context) []openapi.Route
	Version string
}

// Paths are the subtrees to mount New's handler on, without stripping them; "/"
// itself is for that path alone.
var Paths = [...]string{"/web", "/apidoc", "/yangui"}

// New returns the handler of the pages.
func New(o Options) http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	m := http.NewServeMux()
	page := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) }
	}
	m.HandleFunc("GET /{$}", page("status.html"))
	// Access control has taken a trailing slash away already: both forms are the page.
	for _, p := range []string{"apidoc", "yangui"} {
		m.HandleFunc("GET /"+p, page(p+".html"))
		m.HandleFunc("GET /"+p+"/{$}", page(p+".html"))
	}
	m.HandleFunc("/web", http.NotFound) // else the mux leads to /web/, which comes back as /web
	m.Handle("GET /web/", http.StripPrefix("/web/", http.FileServerFS(assets{files})))
	m.HandleFunc("GET /web/status.json", func(w http.ResponseWriter, _ *http.Request) { reply(w, o.Status()) })
	m.HandleFunc("GET /apidoc/openapi.json", func(w http.ResponseWriter, r *http.Request) { o.document(w, r, "", false) })
	m.HandleFunc("GET /apidoc/openapi.yaml", func(w http.ResponseWriter, r *http.Request) { o.document(w, r, "", true) })
	m.HandleFunc("GET /apidoc/modules/{file}", func(w http.ResponseWriter, r *http.Request) {
		name, isYAML := strings.CutSuffix(r.PathValue("file"), ".yaml")
		if !isYAML {
			name = strings.TrimSuffix(name, ".json")
		}
		if o.Schema().Module(name) == nil || !o.Shown(name) {
			http.NotFound(w, r)
			return
		}
		o.document(w, r, name, isYAML)
	})
	m.HandleFunc("GET /yangui/schema.json", func(w http.ResponseWriter, _ *http.Request) { reply(w, modules(o.Schema(), o.Shown)) })
	return headers(m)
}

// document answers the OpenAPI document of everything or of one module.
func (o Options) document(w http.ResponseWriter, r *http.Request, module string, asYAML bool) {
	in := openapi.Input{Set: o.Schema(), Title: "ctl", Version: o.Version, Streams: o.Streams(), Include: o.Shown, Module: module}
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

// headers keep a page from loading or being loaded by anything foreign.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

// assets hides the pages, which have addresses of their own, and listings.
type assets struct{ fs.FS }

// Open implements fs.FS.
func (a assets) Open(name string) (fs.File, error) {
	if !strings.HasSuffix(name, ".js") && !strings.HasSuffix(name, ".css") && !strings.HasSuffix(name, ".svg") {
		return nil, fs.ErrNotExist
	}
	return a.FS.Open(name)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
