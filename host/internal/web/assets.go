package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// asset is a file of the page, as it is and compressed.
type asset struct {
	plain, packed []byte
	etag, media   string
}

type assets map[string]asset

func newAssets() assets {
	out := assets{}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		data, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		a := asset{
			plain: data,
			etag:  `"` + hex.EncodeToString(sum[:12]) + `"`,
			media: mime.TypeByExtension(path.Ext(e.Name())),
		}
		if strings.HasSuffix(e.Name(), ".js") {
			a.media = "text/javascript; charset=utf-8"
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(data)
		_ = z.Close()
		a.packed = b.Bytes()
		out[e.Name()] = a
	}
	return out
}

// policy lets the page load and run nothing but its own files, and send nothing anywhere else; of trusted types it has
// ctl, by which the page names the file of its worker.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; worker-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ctl"

// withPageHeaders keep a page from loading or being loaded by anything foreign.
func withPageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pageHeaders(w.Header())
		next.ServeHTTP(w, r)
	})
}

func pageHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-cache")
}

func (f assets) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	a, ok := f[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	body := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && r.Header.Get("Range") == "" {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(a.packed)))
		body = a.packed
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

var refusal = template.Must(template.New("refusal").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Title}} – ctl</title><link rel="stylesheet" href="/web/static/app.css"></head>
<body><main class="refusal"><h1>{{.Title}}</h1><p>{{.Reason}}</p><p><a href="/">Open the console</a> · <a href="/login">Log in as another user</a></p></main></body></html>
`))

// Refusal answers a person whose browser was refused a page.
func Refusal(w http.ResponseWriter, _ *http.Request, status int, reason string) {
	pageHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	title := http.StatusText(status)
	if status == http.StatusUnauthorized {
		title = "Not allowed"
	}
	_ = refusal.Execute(w, struct{ Title, Reason string }{title, reason})
}
