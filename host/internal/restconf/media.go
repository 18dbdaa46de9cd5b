package restconf

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"ctl.internal/sdk/fault"
)

// The media types of RESTCONF; those with a point are of its drafts, which the
// older controllers speak.
const (
	mediaJSON      = "application/json"
	mediaYANGData  = "application/yang-data+json"
	mediaYANGPatch = "application/yang-patch+json"
	acceptPatch    = mediaYANGData + ", " + mediaJSON + ", " + mediaYANGPatch
)

var jsonTypes = map[string]bool{
	mediaJSON: true, mediaYANGData: true, "application/yang.data+json": true, "application/yang.operation+json": true,
	"application/yang.api+json": true,
}

// accepts checks the Accept header, sets the type of the answer, and reports
// whether the request goes on.
func (x *exchange) accepts() bool {
	values := x.r.Header["Accept"]
	if len(values) == 0 {
		return true
	}
	if len(values) == 1 && jsonTypes[values[0]] {
		x.w.Header().Set("Content-Type", values[0])
		return true
	}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		t, params, err := mime.ParseMediaType(part)
		if err != nil || params["q"] == "0" || params["q"] == "0.0" {
			continue
		}
		switch {
		case jsonTypes[t]:
			x.w.Header().Set("Content-Type", t)
			return true
		case t == "*/*", t == "application/*", t == mediaYANGPatch, t == "text/event-stream", t == "application/xrd+xml":
			return true
		}
	}
	x.fail(&statusError{fault.New(fault.Invalid, "the answer would be %s, which the Accept header does not allow", x.env.media),
		http.StatusNotAcceptable, "invalid-value"})
	return false
}

// contentType returns the media type of a body; one without a type is JSON.
func (x *exchange) contentType(body []byte) (string, error) {
	h := x.r.Header.Get("Content-Type")
	if h == "" {
		return mediaJSON, nil
	}
	if jsonTypes[h] {
		return h, nil
	}
	t, params, err := mime.ParseMediaType(h)
	if c := params["charset"]; err == nil && (c == "" || strings.EqualFold(c, "utf-8")) && (jsonTypes[t] || t == mediaYANGPatch) {
		return t, nil
	}
	if err == nil && x.env == legacy && (t == "application/xml" || t == "text/xml") && bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return mediaJSON, nil // a documented sample labels its JSON so
	}
	return "", &statusError{fault.New(fault.Invalid, "the body must be %s or %s in UTF-8, not %.80q", mediaJSON, mediaYANGData, h),
		http.StatusUnsupportedMediaType, "invalid-value"}
}

// bodyAtOnce is how much of a body is believed to come before it has.
const bodyAtOnce = 64 << 10

// byteOrderMark is what editors of some systems put in front of UTF-8; RFC 8259 lets
// a parser ignore it.
var byteOrderMark = []byte("\ufeff")

// body reads the request's body within the limit. A body without bytes may have
// any type.
func (x *exchange) body() ([]byte, string, error) {
	var b []byte
	var err error
	if n := x.r.ContentLength; n >= 0 && n <= min(x.o.MaxBody, bodyAtOnce) {
		b = make([]byte, n)
		_, err = io.ReadFull(x.r.Body, b)
	} else {
		b, err = io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, x.o.MaxBody))
	}
	if err != nil {
		if e := (*http.MaxBytesError)(nil); errors.As(err, &e) {
			return nil, "", fault.New(fault.TooBig, "the body is larger than the limit of %d bytes", e.Limit)
		}
		return nil, "", fault.Wrap(fault.Malformed, err, "the body could not be read")
	}
	if len(b) == 0 {
		return nil, mediaJSON, nil
	}
	if e := x.r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		x.w.Header().Set("Accept-Encoding", "identity") // RFC 9110 section 12.5.3
		return nil, "", &statusError{fault.New(fault.Invalid, "the body is encoded as %.40q: send it as it is, without Content-Encoding", e),
			http.StatusUnsupportedMediaType, "invalid-value"}
	}
	b = bytes.TrimPrefix(b, byteOrderMark)
	t, err := x.contentType(b)
	return b, t, err
}
