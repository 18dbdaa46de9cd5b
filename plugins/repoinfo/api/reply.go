package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"ctl.internal/sdk/fault"
)

// gzipFrom is the length from which packing an answer is worth it.
const gzipFrom = 1 << 10

// reply writes a value as JSON, with an entity tag made of its bytes.
func reply(w http.ResponseWriter, r *http.Request, value any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fault.Wrap(fault.Internal, err, "the answer could not be written as JSON")
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	packed := body.Len() >= gzipFrom && quality(r.Header.Get("Accept-Encoding"), "gzip") > 0
	sum := sha256.Sum256(body.Bytes())
	tag := hex.EncodeToString(sum[:16])
	if packed {
		tag += "-gzip"
	}
	if notModified(w, r, `"`+tag+`"`) {
		return nil
	}
	h.Set("Content-Type", typeJSON)
	if packed {
		h.Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if !packed {
		_, _ = w.Write(body.Bytes()) // a caller who is gone is no error of ours
		return nil
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	_, _ = z.Write(body.Bytes())
	_ = z.Close()
	return nil
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
