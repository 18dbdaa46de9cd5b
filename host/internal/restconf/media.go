package restconf

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/sdk/fault"
)

// The media types of RESTCONF; those with a point are of its drafts, which the
// older controllers speak.
const (
	mediaJSON         = "application/json"
	mediaXML          = "application/xml"
	mediaYANGData     = "application/yang-data+json"
	mediaYANGDataXML  = "application/yang-data+xml"
	mediaXMLList      = "application/yang-data+xml-list"
	mediaYANGPatch    = "application/yang-patch+json"
	mediaYANGPatchXML = "application/yang-patch+xml"
	acceptPatch       = mediaYANGData + ", " + mediaYANGDataXML + ", " + mediaJSON + ", " + mediaXML + ", " + mediaYANGPatch + ", " + mediaYANGPatchXML
)

var jsonTypes = map[string]bool{
	mediaJSON:                         true,
	mediaYANGData:                     true,
	"application/yang.data+json":      true,
	"application/yang.operation+json": true,
	"application/yang.api+json":       true,
}

var xmlTypes = map[string]bool{
	mediaXML:                         true,
	"text/xml":                       true,
	mediaYANGDataXML:                 true,
	"application/yang.data+xml":      true,
	"application/yang.operation+xml": true,
	"application/yang.api+xml":       true,
}

// answered are the types of answers that a client may ask for, in our order of preference.
var answered = []string{mediaYANGData, mediaJSON, mediaYANGDataXML, mediaXML}

// chooseAnswerType chooses the type of the answer by the Accept header (RFC 9110 section 12.5.1).
func (x *exchange) chooseAnswerType() error {
	values := x.r.Header["Accept"]
	if len(values) == 0 {
		x.anyType = true
		return nil
	}
	if len(values) == 1 && jsonTypes[values[0]] {
		x.w.Header().Set("Content-Type", values[0])
		return nil
	}
	media, ok := x.negotiateMedia(parseAccept(values))
	if !ok {
		return &statusError{fault.New(
			fault.Invalid,
			"the answer would be %s or %s, which the Accept header does not allow",
			mediaYANGData,
			mediaYANGDataXML,
		),
			http.StatusNotAcceptable, "invalid-value"}
	}
	x.answerAs(media)
	return nil
}

// answerAs sets the type of the answer; empty for what is usual.
func (x *exchange) answerAs(media string) {
	if media == "" {
		return
	}
	x.xml, x.xmlList = xmlTypes[media] || media == mediaXMLList, media == mediaXMLList
	x.w.Header().Set("Content-Type", media)
}

// accepted is one range of an Accept header.
type accepted struct {
	media string
	q     float64
}

func parseAccept(values []string) []accepted {
	var out []accepted
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		t, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		a := accepted{t, 1}
		if q, ok := params["q"]; ok {
			if a.q, err = strconv.ParseFloat(q, 64); err != nil || a.q < 0 || a.q > 1 {
				continue
			}
		}
		out = append(out, a)
	}
	return out
}

// preferredMedia is what the client likes best of what offer has for the ranges of its Accept header.
func preferredMedia(
	ranges []accepted,
	offer func(media string) (answer string, ok bool),
) (media string, ok bool) {
	best := 0.0
	for _, a := range ranges {
		if t, known := offer(a.media); known && a.q > best {
			media, best, ok = t, a.q, true
		}
	}
	return media, ok
}

// negotiateMedia returns the best type; empty for what is usual.
func (x *exchange) negotiateMedia(ranges []accepted) (media string, ok bool) {
	refused := map[string]bool{}
	for _, a := range ranges {
		if a.q == 0 {
			refused[a.media] = true
		}
	}
	return preferredMedia(ranges, func(t string) (string, bool) {
		switch {
		case jsonTypes[t], xmlTypes[t], t == mediaXMLList:
			return t, true
		case t == mediaYANGPatchXML:
			return mediaYANGDataXML, true
		case t == mediaYANGPatch, t == eventStream, t == "application/xrd+xml", t == mediaYANG, t == mediaYIN:
			return "", true
		case t != "*/*" && t != "application/*":
			return "", false
		case !refused[x.env.media]:
			return "", true
		}
		i := slices.IndexFunc(answered, func(m string) bool { return !refused[m] })
		if i < 0 {
			return "", false
		}
		return answered[i], true
	})
}

// readRequest reads the parameters and the body of a request.
func (x *exchange) readRequest() (q query, body []byte, err error) {
	if q, err = x.parseQuery(); err == nil {
		body, err = x.readBody()
	}
	return q, body, err
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
	c := params["charset"]
	if err == nil && (c == "" || strings.EqualFold(c, "utf-8")) {
		switch {
		case jsonTypes[t], t == mediaYANGPatch, t == mediaYANGPatchXML:
			return t, nil
		case xmlTypes[t] && x.env == legacy && bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")):
			return mediaJSON, nil // a documented sample labels its JSON so
		case xmlTypes[t]:
			return t, nil
		}
	}
	return "", &statusError{fault.New(
		fault.Invalid,
		"the body must be %s, %s, %s or %s in UTF-8, not %.80q",
		mediaJSON,
		mediaYANGData,
		mediaXML,
		mediaYANGDataXML,
		h,
	),
		http.StatusUnsupportedMediaType, "invalid-value"}
}

// bodyAtOnce is how much of a body is believed to come before it has.
const bodyAtOnce = 64 << 10

// byteOrderMark is what editors of some systems put in front of UTF-8; RFC 8259 lets
// a parser ignore it.
var byteOrderMark = []byte("\ufeff")

// readBody reads the request's body within the limit. A body without bytes may have
// any type.
func (x *exchange) readBody() ([]byte, error) {
	var b []byte
	var err error
	n := x.r.ContentLength
	if n >= 0 && n <= min(x.o.MaxBody, bodyAtOnce) {
		b = make([]byte, n)
		_, err = io.ReadFull(x.r.Body, b)
	} else {
		b, err = io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, x.o.MaxBody))
	}
	if err != nil {
		if e := (*http.MaxBytesError)(nil); errors.As(err, &e) {
			return nil, fault.New(
				fault.TooBig,
				"the body is larger than the limit of %d bytes",
				e.Limit,
			)
		}
		return nil, fault.Wrap(fault.Malformed, err, "the body could not be read")
	}
	if len(b) == 0 {
		return nil, nil
	}
	e := x.r.Header.Get("Content-Encoding")
	if e != "" && !strings.EqualFold(e, "identity") {
		x.w.Header().Set("Accept-Encoding", "identity") // RFC 9110 section 12.5.3
		return nil, &statusError{fault.New(
			fault.Invalid,
			"the body is encoded as %.40q: send it as it is, without Content-Encoding",
			e,
		),
			http.StatusUnsupportedMediaType, "invalid-value"}
	}
	b = bytes.TrimPrefix(b, byteOrderMark)
	t, err := x.contentType(b)
	x.inXML = xmlTypes[t] || t == mediaYANGPatchXML
	if x.inXML && x.anyType { // the answer is in the form of the request (RFC 8040 section 5.2)
		x.answerAs(mediaYANGDataXML)
	}
	return b, err
}
