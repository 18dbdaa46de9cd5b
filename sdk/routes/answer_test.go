package routes

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// script is what a plugin sends.
type script struct {
	grpc.BidiStreamingClient[pluginv1.ServeRequest, pluginv1.ServeResponse]
	messages []*pluginv1.ServeResponse
}

func (s *script) Recv() (*pluginv1.ServeResponse, error) {
	if len(s.messages) == 0 {
		return nil, io.EOF
	}
	m := s.messages[0]
	s.messages = s.messages[1:]
	return m, nil
}

func said(status int32, body string, headers ...string) []*pluginv1.ServeResponse {
	h := &pluginv1.ResponseHead{Status: status}
	for i := 0; i < len(headers); i += 2 {
		h.Headers = append(h.Headers, &pluginv1.Header{Name: headers[i], Values: []string{headers[i+1]}})
	}
	out := []*pluginv1.ServeResponse{{Head: h}}
	for b := range strings.SplitSeq(body, "|") {
		out = append(out, &pluginv1.ServeResponse{Body: []byte(b)})
	}
	return out
}

func TestOddAnswersAreNotPassedOn(t *testing.T) {
	many := said(200, "x")
	for range 5000 {
		many[0].Head.Headers = append(many[0].Head.Headers, &pluginv1.Header{Name: "X-A", Values: []string{"b"}})
	}
	for name, c := range map[string]struct {
		messages []*pluginv1.ServeResponse
		want     string // of the error; empty = passed on
	}{
		"whole":             {said(200, "ab|cd", "content-length", "4"), ""},
		"empty":             {said(204, ""), ""},
		"no length":         {said(200, "ab|cd"), ""},
		"204 with a body":   {said(204, "x"), "a 204 has a body"},
		"304 with a body":   {said(304, "|x"), "a 304 has a body"},
		"too short":         {said(200, "ab", "Content-Length", "5"), "its body has 2 bytes"},
		"too long":          {said(200, "ab|cdef", "Content-Length", "5"), "its body is longer"},
		"no number":         {said(200, "ab", "Content-Length", "-1"), "its Content-Length is"},
		"two lengths":       {said(200, "ab", "Content-Length", "2", "content-length", "3"), "its Content-Length is"},
		"status 99":         {said(99, ""), "there is no status 99"},
		"status 1000":       {said(1000, ""), "there is no status 1000"},
		"no answer":         {nil, "there is none"},
		"body first":        {[]*pluginv1.ServeResponse{{Body: []byte("x")}}, "a body before its status"},
		"thousands":         {many, "more than 128 headers"},
		"large header":      {said(200, "", "X-A", strings.Repeat("a", 70<<10)), "bytes of them"},
		"line end":          {said(200, "", "X-A", "b\r\nSet-Cookie: a=b"), "line end"},
		"no name":           {said(200, "", "X A", "b"), "not a header name"},
		"headers of a host": {said(200, "x", "Set-Cookie", "a=b", "X-Request-Id", "forged", "Strict-Transport-Security", "max-age=1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			w.Header().Set("X-Request-Id", "ours")
			begun, err := (&answer{w: w, allSent: func() bool { return true }}).receiveAnswer(&script{messages: c.messages})
			var odd *BadAnswerError
			if c.want == "" {
				if err != nil || !begun && w.Code != http.StatusNoContent || w.Header().Get("X-Request-Id") != "ours" || w.Header().Get("Set-Cookie") != "" {
					t.Errorf("begun %v, %v, %v", begun, err, w.Header())
				}
				return
			}
			if begun || !errors.As(err, &odd) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("begun %v, %v", begun, err)
			}
		})
	}
}
