package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// problem is an RFC 9457 document. Error repeats the text under the name that
// the clients of the older service read.
type problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Instance  string `json:"instance"`
	Parameter string `json:"parameter,omitempty"` // or the file and line at fault
	Error     string `json:"error"`
}

func writeProblem(w http.ResponseWriter, r *http.Request, code int, text, where string) {
	text = sentence(text)
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(problem{Type: "about:blank", Title: http.StatusText(code), Status: code, Detail: text,
		Instance: instance(r), Parameter: where, Error: text}); err != nil {
		http.Error(w, http.StatusText(code), code)
		return
	}
	h := w.Header()
	h.Del("ETag")
	h.Del("Link")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body.Bytes())
	}
}

// instance is the path as it was asked for, with the prefix it is mounted at.
func instance(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); path != "" {
		return path
	}
	return r.URL.Path
}

// sentence gives a fault's text a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
