package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
)

// gzipFrom is the length from which answers are compressed.
const gzipFrom = 1 << 10

// writeJSON writes a value as JSON, with an entity tag made of its bytes.
func writeJSON(w http.ResponseWriter, r *http.Request, value any) error {
	body, err := encodeJSON(value)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the answer could not be written as JSON")
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Type", typeJSON)
	packed := body.Len() >= gzipFrom && acceptQuality(r.Header.Get("Accept-Encoding"), "gzip") > 0
	h.Set("ETag", entityTag(body.Bytes(), packed))
	if packed {
		h.Set("Content-Encoding", "gzip")
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, err = body.WriteTo(z)
		if err = errors.Join(err, z.Close()); err != nil {
			return err
		}
		body = small
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body.Bytes()))
	return nil
}

// encodeJSON writes a value as JSON in which no character of HTML is escaped.
func encodeJSON(value any) (body bytes.Buffer, err error) {
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	return body, enc.Encode(value)
}

// entityTag is the entity tag of an answer by what its bytes depend on.
func entityTag(of []byte, gzip bool) string {
	sum := sha256.Sum256(of)
	tag := hex.EncodeToString(sum[:16])
	if gzip {
		tag += "-gzip"
	}
	return `"` + tag + `"`
}

// notModified sets the entity tag and answers 304 when the caller has it.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	for _, header := range r.Header.Values("If-None-Match") {
		for known := range strings.SplitSeq(header, ",") {
			known = strings.TrimPrefix(strings.TrimSpace(known), "W/")
			if known == tag || known == "*" {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}

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
	text = toSentence(text)
	body, err := encodeJSON(problem{
		Type:      "about:blank",
		Title:     http.StatusText(code),
		Status:    code,
		Detail:    text,
		Instance:  requestPath(r),
		Parameter: where,
		Error:     text,
	})
	if err != nil {
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

// requestPath is the path as it was asked for, with the prefix it is mounted at.
func requestPath(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); path != "" {
		return path
	}
	return r.URL.Path
}

// toSentence gives a fault's text a capital letter and a full stop.
func toSentence(s string) string {
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

const (
	typeJSON  = "application/json"
	typeLines = "application/x-ndjson"
	typeHTML  = "text/html; charset=utf-8"
)

// wantsLines says whether the answer goes out as one JSON object a line: by the
// parameter format, else when the caller prefers that to JSON.
func wantsLines(p *params, accept string) bool {
	if form := p.choiceValue("format", "", "json", "ndjson"); form != "" {
		return form == "ndjson"
	}
	lines := acceptQuality(accept, typeLines)
	return lines > 0 && lines >= acceptQuality(accept, typeJSON)
}

// acceptQuality is the weight that a header of the Accept family gives to exactly one
// value; 0 when it does not name it.
func acceptQuality(header, value string) float64 {
	for part := range strings.SplitSeq(header, ",") {
		name, attrs, err := mime.ParseMediaType(part)
		if err != nil || name != value {
			continue
		}
		q, err := strconv.ParseFloat(attrs["q"], 64)
		if err != nil {
			q = 1
		}
		return q
	}
	return 0
}
