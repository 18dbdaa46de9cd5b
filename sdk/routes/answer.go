package routes

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Bounds of an answer.
const (
	maxHeaders     = 128
	maxHeaderBytes = 64 << 10
	// held is up to which Content-Length an answer is checked before its first byte goes out.
	held = 256 << 10
)

// foreign are headers of an answer that are the host's alone to send.
var foreign = map[string]bool{
	"X-Request-Id":              true,
	"Strict-Transport-Security": true,
	"Set-Cookie":                true,
	"Clear-Site-Data":           true,
	"Alt-Svc":                   true,
	"Www-Authenticate":          true,
	"Ctl-Revision":              true,
	"Ctl-Node":                  true,
}

// BadAnswerError says what is wrong with the answer of a plugin. The caller did nothing wrong: it is a 502.
type BadAnswerError struct{ Text string }

// Error returns the sentence.
func (e *BadAnswerError) Error() string {
	return "the plugin's answer is wrong: " + e.Text
}

func newBadAnswer(format string, args ...any) error {
	return &BadAnswerError{fmt.Sprintf(format, args...)}
}

// answer copies the answer of a plugin. Its head is kept back while the body may still contradict it.
type answer struct {
	w       http.ResponseWriter
	head    bool        // the request was HEAD: whatever body there is goes nowhere
	allSent func() bool // all of the request; an answer that begins before is the last of its connection

	status   int
	header   http.Header
	declared int64 // Content-Length; -1 = none
	body     []byte
	n        int64
	begun    bool
}

func (a *answer) receiveAnswer(stream grpc.BidiStreamingClient[pluginv1.ServeRequest, pluginv1.ServeResponse]) (begun bool, err error) {
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err := a.endAnswer()
			return a.begun, err
		}
		if err != nil {
			return a.begun, fault.FromStatus(err)
		}
		if m.Head != nil && a.status == 0 {
			if err := a.takeHead(m.Head); err != nil {
				return false, err
			}
		}
		if a.status == 0 {
			return false, newBadAnswer("it has a body before its status")
		}
		if err := a.writeBody(m.Body); err != nil {
			return a.begun, err
		}
	}
}

// takeHead checks the head.
func (a *answer) takeHead(h *pluginv1.ResponseHead) error {
	if h.Status < 200 || h.Status > 599 {
		return newBadAnswer("there is no status %d", h.Status)
	}
	a.header, a.declared = http.Header{}, -1
	size, count := 0, 0
	for _, one := range h.Headers {
		name := http.CanonicalHeaderKey(one.Name)
		if hop[name] || foreign[name] {
			continue
		}
		count += max(1, len(one.Values))
		for _, v := range one.Values {
			size += len(name) + len(v)
			if strings.ContainsAny(v, "\r\n\x00") {
				return newBadAnswer("the header %q has a line end in it", one.Name)
			}
		}
		if count > maxHeaders || size > maxHeaderBytes {
			return newBadAnswer(
				"it has more than %d headers, or %d bytes of them",
				maxHeaders,
				maxHeaderBytes,
			)
		}
		if name == "" || strings.ContainsAny(name, " \t\r\n:\x00") {
			return newBadAnswer("%q is not a header name", one.Name)
		}
		a.header[name] = append(a.header[name], one.Values...)
	}
	if lengths := a.header["Content-Length"]; len(lengths) > 0 {
		n, err := strconv.ParseUint(lengths[0], 10, 62)
		if err != nil ||
			slices.ContainsFunc(lengths, func(l string) bool { return l != lengths[0] }) {
			return newBadAnswer("its Content-Length is %q", lengths)
		}
		a.declared, a.header["Content-Length"] = int64(n), lengths[:1]
	}
	a.status = int(h.Status)
	return nil
}

// hasNoBody reports that an answer of this status has no body.
func (a *answer) hasNoBody() bool {
	return a.status == http.StatusNoContent || a.status == http.StatusNotModified
}

func (a *answer) writeBody(b []byte) error {
	a.n += int64(len(b))
	switch {
	case a.head:
		return nil
	case a.hasNoBody() && len(b) > 0:
		return newBadAnswer("a %d has a body", a.status)
	case a.declared >= 0 && a.n > a.declared:
		return newBadAnswer("its Content-Length is %d, and its body is longer", a.declared)
	case a.hasNoBody():
		return nil
	case !a.begun && a.declared >= 0 && a.declared <= held:
		a.body = append(a.body, b...)
		return nil
	}
	a.beginAnswer()
	if len(b) == 0 {
		return nil
	}
	if _, err := a.w.Write(b); err != nil {
		return err
	}
	if f, ok := a.w.(http.Flusher); ok && len(b) < chunk {
		f.Flush()
	}
	return nil
}

func (a *answer) beginAnswer() {
	if a.begun {
		return
	}
	to := a.w.Header()
	for name, values := range a.header {
		to[name] = values
	}
	if !a.allSent() {
		to.Set("Connection", "close")
	}
	a.w.WriteHeader(a.status)
	a.begun = true
}

// endAnswer finishes an answer whose body is whole.
func (a *answer) endAnswer() error {
	if a.status == 0 {
		return newBadAnswer("there is none")
	}
	if a.declared >= 0 && a.n != a.declared && !a.head && !a.hasNoBody() {
		return newBadAnswer("its Content-Length is %d, and its body has %d bytes", a.declared, a.n)
	}
	a.beginAnswer()
	if len(a.body) == 0 {
		return nil
	}
	_, err := a.w.Write(a.body)
	return err
}
