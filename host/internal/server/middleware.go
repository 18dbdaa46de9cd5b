package server

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"ctl.internal/host/internal/restconf"
	"ctl.internal/internal/wire/onward"
)

// requestIDHeader holds the id in the answer and, whatever the client sent, in the
// request that handlers see.
const requestIDHeader = "X-Request-Id"

// requestID returns the id that outermost gave a request.
func requestID(r *http.Request) string {
	if v := r.Header[requestIDHeader]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// ids numbers requests: a random prefix per process, then a counter.
type ids struct {
	prefix string
	n      atomic.Uint64
}

func newIDs() *ids {
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	return &ids{prefix: hex.EncodeToString(b)}
}

func (i *ids) nextID() string {
	b := make([]byte, 0, 32)
	b = append(append(b, i.prefix...), '-')
	return string(strconv.AppendUint(b, i.n.Add(1), 16))
}

// nosniff is shared by all answers; do not append to a header that is set here.
var nosniff = []string{"nosniff"}

// outermostHandler gives each request an id, bounds its body and in-flight number, and
// keeps a panic of any handler from reaching a user.
func outermostHandler(
	next http.Handler,
	i *ids,
	body int64,
	now *inFlight,
	most int,
	log *slog.Logger,
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := i.nextID()
		h := w.Header()
		if parent := r.Header["Traceparent"]; len(parent) == 1 {
			r = r.WithContext(onward.WithTrace(
				r.Context(),
				parent[0],
				strings.Join(r.Header["Tracestate"], ","),
			))
		}
		ids := []string{id}
		h[requestIDHeader], r.Header[requestIDHeader] = ids, ids
		h["X-Content-Type-Options"] = nosniff
		var place *slot
		if r.Body == nil || r.Body == http.NoBody {
			defer now.Add(-1)
		} else {
			place = &slot{now: now, held: true}
			defer place.end()
		}
		if n := now.Add(1); most > 0 && n > int64(most) {
			w.Header().Set("Retry-After", "1")
			refuseRequest(
				w,
				r,
				http.StatusServiceUnavailable,
				"resource-denied",
				"too many requests at once: try again in a second",
			)
			return
		}
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			log.ErrorContext(
				r.Context(),
				"a request panicked",
				"request",
				id,
				"method",
				r.Method,
				"panic",
				fmt.Sprint(v),
				"stack",
				string(debug.Stack()),
			)
			refuseRequest(
				w,
				r,
				http.StatusInternalServerError,
				"operation-failed",
				"internal error; the log has it under request "+id,
			)
		}()
		if body > 0 && r.ContentLength > body {
			w.Header().Set("Connection", "close")
			refuseRequest(
				w,
				r,
				http.StatusRequestEntityTooLarge,
				"too-big",
				fmt.Sprintf("the body is larger than the limit of %d bytes", body),
			)
			return
		}
		if place != nil {
			// In a copy only: of a body the server knows as its own it does not wait
			// for the rest before it answers.
			inner := r.WithContext(r.Context())
			inner.Body = newWaitingBody(r, place)
			if body > 0 && r.ContentLength < 0 { // of a length that was said, no more is read
				inner.Body = http.MaxBytesReader(w, inner.Body, body)
			}
			r = inner
		}
		next.ServeHTTP(w, r)
	})
}

// Headers of every answer; a handler of pages may replace them. Do not append to them.
var (
	noFrames    = []string{"DENY"}
	noReferrer  = []string{"no-referrer"}
	ownOrigin   = []string{"same-origin"}
	loadNothing = []string{"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}
)

// hasBytes reports whether a request has a body that is not empty. Of a length that was not sent
// it waits for the first byte or the end, and returns the request that still has the byte.
func hasBytes(r *http.Request) (bool, *http.Request) {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0, r
	}
	ahead := bufio.NewReaderSize(r.Body, 16)
	_, err := ahead.Peek(1)
	if err == nil {
		return true, r
	}
	inner := *r
	inner.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return false, &inner
}

// answerUnusable answers a request to RESTCONF that access control cannot decide, for instance by its path.
func answerUnusable(w http.ResponseWriter, r *http.Request, status int, text string) bool {
	tag := map[int]string{
		http.StatusBadRequest:      "invalid-value",
		http.StatusTooManyRequests: "resource-denied",
	}[status]
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !slices.Contains(restconf.Prefixes[:], "/"+first) {
		return false
	}
	refuseRequest(w, r, status, cmp.Or(tag, "operation-failed"), text)
	return true
}

// refuseRequest answers what no handler saw, or what one failed at: below the trees in the
// form that RFC 8040 asks for, elsewhere in that of the access control.
func refuseRequest(w http.ResponseWriter, r *http.Request, status int, tag, text string) {
	var body any = map[string]any{
		"message": http.StatusText(status),
		"details": text,
		"code":    status,
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	for _, p := range restconf.Prefixes {
		if p == "/"+first {
			name := "errors"
			if first == "rests" {
				name = "ietf-restconf:errors"
			}
			body = map[string]any{name: map[string]any{"error": []any{
				map[string]any{
					"error-type":    "transport",
					"error-tag":     tag,
					"error-message": text,
				}}}}
		}
	}
	h := w.Header()
	// of an answer that did not come
	for _, name := range [...]string{"Content-Length", "Content-Encoding", "ETag", "Last-Modified"} {
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
