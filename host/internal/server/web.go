package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"ctl.internal/host/internal/web"
	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/internal/yang"
)

// webOptions is what the pages show.
func (s *Server) webOptions() web.Options {
	version, _, _ := strings.Cut(Version(), " ")
	return web.Options{
		Schema: func() *yang.Set { return s.catalog.Installed().Schema },
		Shown: func(module string) bool {
			m := s.catalog.Installed().Schema.Module(module)
			return m != nil && s.features.Active().UI(m.Source, module)
		},
		Served: func(module string) bool { return s.catalog.Installed().IsServed(module) },
		Streams: func() []openapi.Stream {
			var out []openapi.Stream
			for _, st := range s.catalog.Installed().Streams {
				out = append(out, openapi.Stream(st))
			}
			return out
		},
		Routes:  s.routeDocuments,
		Version: version, Store: s.store,
	}
}

// The bounds of asking a plugin for the document of its routes.
const (
	documentTime  = 2 * time.Second
	documentBytes = 1 << 20
)

// routeDocuments are the routes of plugins. A plugin that describes them serves openapi.json below
// the route.
func (s *Server) routeDocuments(ctx context.Context) []openapi.Route {
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	var out []openapi.Route
	for _, m := range s.plugins.Manifests() {
		for _, r := range m.Routes {
			route := openapi.Route{
				Path:    r.Path,
				Summary: r.Summary,
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Path+"/openapi.json", nil)
			if err == nil {
				a := documentWriter{limit: documentBytes}
				_, err := s.plugins.ServeRoute(&a, req, m.Name)
				if err == nil && a.status == http.StatusOK && json.Valid(a.body.Bytes()) {
					route.Document = a.body.Bytes()
				}
			}
			out = append(out, route)
		}
	}
	return out
}

// documentWriter takes an answer of limited size.
type documentWriter struct {
	limit  int // in bytes
	header http.Header
	status int
	body   bytes.Buffer
	full   bool // more than limit was written; body ends before it
}

func (w *documentWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *documentWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
}

func (w *documentWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.full = w.full || w.body.Len()+len(b) > w.limit; w.full {
		return 0, io.ErrShortWrite
	}
	return w.body.Write(b)
}

// docsPath is where the documentation site is served.
const docsPath = "/docs"

// docsHandler serves the site that `make docs` made, which lies beside the programs as the plugins do.
func docsHandler(dir string) http.Handler {
	files := os.DirFS(dir)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == docsPath || r.URL.Path == docsPath+"/" { // links of the pages are relative
			http.Redirect(w, r, docsPath+"/index.html", http.StatusFound)
			return
		}
		if _, err := os.Stat(dir); err != nil {
			http.Error(
				w,
				"the documentation is not installed beside the programs, in "+dir+"; make docs makes it",
				http.StatusNotFound,
			)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, docsPath+"/")
		b, err := fs.ReadFile(files, name) // a directory is an error, a path that leads out too
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set(
			"Content-Security-Policy",
			"default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		)
		h.Set("Referrer-Policy", "no-referrer")
		// http.ServeFileFS leads index.html to /docs/ and back
		http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(b))
	})
}
