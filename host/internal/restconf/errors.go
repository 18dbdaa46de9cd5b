package restconf

import (
	"cmp"
	"errors"
	"net/http"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// statusError is a fault whose status or error-tag is not that of its kind.
type statusError struct {
	fault  *fault.Error
	status int
	tag    string
}

// Error returns the fault's text.
func (e *statusError) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *statusError) Unwrap() error { return e.fault }

// applicationError is what a plugin answered, as opposed to the protocol layer.
type applicationError struct{ error }

// Unwrap returns the plugin's error.
func (e applicationError) Unwrap() error { return e.error }

// kindTable is RFC 8040 section 7, by kind of fault.
var kindTable = map[fault.Kind]struct {
	tag    string
	status int
}{
	fault.Internal:    {"operation-failed", http.StatusInternalServerError},
	fault.Invalid:     {"invalid-value", http.StatusBadRequest},
	fault.NotFound:    {"invalid-value", http.StatusNotFound},
	fault.Exists:      {"data-exists", http.StatusConflict},
	fault.Denied:      {"access-denied", http.StatusForbidden},
	fault.InUse:       {"in-use", http.StatusConflict},
	fault.Unavailable: {"operation-failed", http.StatusServiceUnavailable},
	fault.Timeout:     {"operation-failed", http.StatusGatewayTimeout},
	fault.Downstream:  {"operation-failed", http.StatusInternalServerError},
	fault.Unsupported: {"operation-not-supported", http.StatusNotImplemented},
	fault.Missing:     {"missing-element", http.StatusBadRequest},
	fault.Unknown:     {"unknown-element", http.StatusBadRequest},
	fault.Malformed:   {"malformed-message", http.StatusBadRequest},
	fault.TooBig:      {"too-big", http.StatusRequestEntityTooLarge},
}

// violationStatus is the same by error-tag, of constraints that RFC 7950 section 15 gives a tag.
var violationStatus = map[string]int{
	"operation-failed": http.StatusPreconditionFailed,
	"data-missing":     http.StatusConflict,
}

// entry is one error of the errors body (RFC 8040 section 3.9).
type entry struct {
	Type    string `json:"error-type"`
	Tag     string `json:"error-tag"`
	AppTag  string `json:"error-app-tag,omitempty"`
	Path    string `json:"error-path,omitempty"`
	Message string `json:"error-message"`
}

// answerError answers an error.
func (x *exchange) answerError(err error) {
	status, list := x.errorEntries(err)
	if status == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", "1")
	}
	h := x.w.Header()
	h.Del("ETag")
	h.Del("Last-Modified")
	x.sendErrors(status, map[string]any{x.env.qualifyName("errors"): map[string]any{"error": list}})
}

// errorEntries lists all faults of an error; the status is that of the first.
func (x *exchange) errorEntries(err error) (status int, list []entry) {
	kind := "protocol"
	if errors.As(err, new(applicationError)) {
		kind = "application"
	}
	for _, f := range fault.All(err) {
		row, ok := kindTable[f.Kind]
		if !ok {
			row = kindTable[fault.Internal]
		}
		if f.Kind == fault.Timeout && f.Source == fault.SourceDevice {
			row.status = http.StatusInternalServerError // the device is late, not this server
		}
		e := entry{
			Type:    kind,
			Tag:     row.tag,
			Path:    f.Path,
			Message: f.Text,
		}
		if v := (*yang.Violation)(nil); errors.As(f, &v) {
			e.Tag, e.AppTag = cmp.Or(v.Tag, e.Tag), v.AppTag
			row.status = cmp.Or(violationStatus[v.Tag], row.status)
		}
		s := (*statusError)(nil)
		if errors.As(err, &s) && s.fault == f {
			row.status, e.Tag = s.status, s.tag
		}
		if status == 0 {
			status = row.status
		}
		if f.Kind == fault.Internal {
			x.o.Log.ErrorContext(
				x.r.Context(),
				"restconf: a request failed",
				"path",
				x.r.URL.Path,
				"error",
				f.Error(),
				"cause",
				f.Cause,
			)
			if f.Cause != nil && f.Text == f.Cause.Error() {
				e.Message = "the controller failed; its log says why" // no inner text for clients
			}
		}
		list = append(list, e)
	}
	return status, list
}

// writeBody sends a body; a client that went away is no error.
func (x *exchange) writeBody(body []byte) {
	if _, err := x.w.Write(body); err != nil {
		x.o.Log.DebugContext(
			x.r.Context(),
			"restconf: the client went away",
			"path",
			x.r.URL.Path,
			"error",
			err,
		)
	}
}

// replyBody answers 200 with a body; it never fails.
func (x *exchange) replyBody(body []byte) error {
	if x.pretty {
		body = indentBody(body, x.xml)
	}
	x.beginAnswer()
	x.writeBody(body)
	return nil
}

// beginAnswer sends the header of an answer 200.
func (x *exchange) beginAnswer() {
	if h := x.w.Header(); len(h["Content-Type"]) == 0 {
		h["Content-Type"] = x.env.types
	}
	x.w.WriteHeader(http.StatusOK)
}

// replyValue answers 200 with a value that has no schema.
func (x *exchange) replyValue(v any) error {
	body, err := x.encodeValue(v)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the answer cannot be written")
	}
	return x.replyBody(body)
}
