package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"ctl.internal/host/internal/restconf"
)

// refuse answers what no handler saw, or what one failed at: below the trees in the
// form that RFC 8040 asks for, elsewhere in that of the access control.
func refuse(w http.ResponseWriter, r *http.Request, status int, tag, text string) {
	var body any = map[string]any{"message": http.StatusText(status), "details": text, "code": status}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	for _, p := range restconf.Prefixes {
		if p == "/"+first {
			name := "errors"
			if first == "rests" {
				name = "ietf-restconf:errors"
			}
			body = map[string]any{name: map[string]any{"error": []any{
				map[string]any{"error-type": "transport", "error-tag": tag, "error-message": text}}}}
		}
	}
	h := w.Header()
	for _, name := range [...]string{"Content-Length", "Content-Encoding", "ETag", "Last-Modified"} { // of an answer that did not come
		h.Del(name)
	}
	h.Set("Content-Type", "application/json")
	if first == "rests" {
		h.Set("Content-Type", "application/yang-data+json")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(body)
	}
}
