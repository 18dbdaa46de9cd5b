package idm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/fault"
)

// Answer writes v as JSON. It is never kept by a cache.
func Answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if r.URL.Query().Has("pretty-print") {
		e.SetIndent("", "  ")
	}
	_ = e.Encode(v) // the client may be gone, and the error cannot be reported elsewhere
}

// Fail writes the error body of access control. reason, which may be empty, is for programs.
func Fail(w http.ResponseWriter, r *http.Request, status int, reason, details string) {
	Answer(w, r, status, struct {
		Message string `json:"message"`
		Details string `json:"details"`
		Code    int    `json:"code"`
		Reason  string `json:"reason,omitempty"`
	}{http.StatusText(status), details, status, reason})
}

func (h *handler) writeFailure(w http.ResponseWriter, r *http.Request, status int, details string) {
	Fail(w, r, status, "", details)
}

// statusOf maps faults to the statuses of this service.
func statusOf(err error) int {
	switch fault.KindOf(err) {
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Exists, fault.InUse:
		return http.StatusConflict
	case fault.Invalid, fault.Missing, fault.Unknown, fault.Malformed:
		return http.StatusBadRequest
	case fault.Denied:
		return http.StatusForbidden
	case fault.TooBig:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.Unavailable, fault.Timeout:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// writeFault answers an error. Only faults made for users are answered; the text of any
// other error stays in the log.
func (h *handler) writeFault(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	var o oauthError
	if errors.As(err, &o) {
		h.oauthFail(w, r, o)
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) || status == http.StatusInternalServerError {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
			h.writeFailure(
				w,
				r,
				http.StatusServiceUnavailable,
				"the answer took too long; try again",
			)
			return
		}
		if first := fault.All(err)[0]; first.Kind == fault.Unavailable { // the disk
			h.Log.ErrorContext(r.Context(), "an identity request failed", "error", err)
			h.writeFailure(w, r, http.StatusServiceUnavailable, first.Text)
			return
		}
		h.Log.ErrorContext(r.Context(), "an identity request failed", "error", err)
		h.writeFailure(
			w,
			r,
			http.StatusInternalServerError,
			"the controller failed; its log has the reason",
		)
		return
	}
	h.writeFailure(w, r, status, strings.ReplaceAll(err.Error(), "\n", "; "))
}

const maxLimit = 10_000

// parsePage reads ?limit= and ?cursor=; without limit everything is answered.
func parsePage(r *http.Request) (identity.Page, error) {
	var p identity.Page
	q := r.URL.Query()
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxLimit {
			return p, fault.At(fault.Invalid, "limit", "must be a number from 1 to %d", maxLimit)
		}
		p.Limit = n
	}
	if s := q.Get("cursor"); s != "" {
		id, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil || len(id) == 0 || len(id) > 2048 {
			return p, fault.At(
				fault.Invalid,
				"cursor",
				"use the value from the Link header of the previous page",
			)
		}
		p.After = string(id)
	}
	return p, nil
}

// withOneMore asks for one entry beyond the page, to know whether another page follows.
func withOneMore(p identity.Page) identity.Page {
	if p.Limit > 0 {
		p.Limit++
	}
	return p
}

// linkNextPage cuts the extra entry and announces the next page.
func linkNextPage[T interface{ ID() string }](
	w http.ResponseWriter,
	r *http.Request,
	p identity.Page,
	list []T,
) []T {
	if p.Limit == 0 || len(list) <= p.Limit {
		return list
	}
	list = list[:p.Limit]
	q := url.Values{
		"limit":  {strconv.Itoa(p.Limit)},
		"cursor": {base64.RawURLEncoding.EncodeToString([]byte(list[len(list)-1].ID()))},
	}
	w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+q.Encode()+`>; rel="next"`)
	return list
}
