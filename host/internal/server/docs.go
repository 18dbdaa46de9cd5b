package server

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

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
			http.Error(w, "the documentation is not installed beside the programs, in "+dir+"; make docs makes it", http.StatusNotFound)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, docsPath+"/")
		b, err := fs.ReadFile(files, name) // a directory is an error, a path that leads out too
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(b)) // http.ServeFileFS leads index.html to /docs/ and back
	})
}
