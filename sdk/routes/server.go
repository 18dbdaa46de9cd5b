// Package routes is the capability of serving an HTTP subtree of the controller.
// A plugin hands sdk.Serve an http.Handler; the host puts access control in front
// of it and streams requests and responses both ways.
package routes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// chunk is how many bytes of a body one message carries at most.
const chunk = 32 << 10

// Register serves routes on a gRPC server; sdk.Serve does this for a plugin.
// handler returns the handler, or why there is none yet.
func Register(s grpc.ServiceRegistrar, _ string, handler func() (http.Handler, error)) {
	pluginv1.RegisterRoutesServer(s, &server{handler: handler})
}

type server struct {
	pluginv1.UnimplementedRoutesServer
	handler func() (http.Handler, error)
}

func (s *server) Serve(stream grpc.BidiStreamingServer[pluginv1.ServeRequest, pluginv1.ServeResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	head := first.GetHead()
	if head == nil {
		return fault.ToStatus(fault.New(
			fault.Malformed,
			"the first message of a request carries no head",
		))
	}
	h, err := s.handler()
	if err != nil {
		return fault.ToStatus(err)
	}
	r, err := requestFromHead(stream.Context(), head)
	if err != nil {
		return fault.ToStatus(err)
	}
	r.Body = io.NopCloser(&requestBody{
		stream: stream,
		rest:   first.Body,
	})
	w := &responseWriter{stream: stream, header: http.Header{}}
	if err := serveHandler(h, w, r); err != nil {
		return fault.ToStatus(err)
	}
	return w.finishResponse()
}

// serveHandler runs the handler; a panic becomes an error unless the handler only wanted
// to abort the response, as net/http allows.
func serveHandler(h http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		switch v := recover(); {
		case v == nil:
		case v == http.ErrAbortHandler:
			err = fault.New(fault.Unavailable, "the response was aborted")
		default:
			err = fault.Wrap(
				fault.Internal,
				fmt.Errorf("panic: %v", v),
				"the plugin failed while it answered %s %s",
				r.Method,
				r.URL.Path,
			)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

func requestFromHead(ctx context.Context, h *pluginv1.RequestHead) (*http.Request, error) {
	u, err := url.ParseRequestURI(h.Path)
	if err != nil {
		return nil, fault.New(fault.Malformed, "the path of the request does not parse")
	}
	u.RawQuery = h.Query
	ctx = caller.FromProto(ctx, h.Caller)
	r := &http.Request{
		Method:        h.Method,
		URL:           u,
		Host:          h.Host,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{},
		ContentLength: h.ContentLength,
		RequestURI:    u.RequestURI(),
	}
	for _, f := range h.Headers {
		r.Header[http.CanonicalHeaderKey(f.Name)] = f.Values
	}
	if h.Caller != nil {
		r.RemoteAddr = h.Caller.Address
	} else if p, ok := peer.FromContext(ctx); ok {
		r.RemoteAddr = p.Addr.String()
	}
	return r.WithContext(ctx), nil
}

type requestBody struct {
	stream grpc.BidiStreamingServer[pluginv1.ServeRequest, pluginv1.ServeResponse]
	rest   []byte
	err    error
}

func (b *requestBody) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		m, err := b.stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = fault.FromStatus(err)
			}
			b.err = err
			continue
		}
		b.rest = m.Body
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// responseWriter sends the head with the first bytes and flushes whole chunks.
type responseWriter struct {
	stream grpc.BidiStreamingServer[pluginv1.ServeRequest, pluginv1.ServeResponse]
	mu     sync.Mutex
	header http.Header
	status int
	sent   bool
	buf    []byte
	err    error
}

func (w *responseWriter) Header() http.Header {
	return w.header
}

func (w *responseWriter) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 && status >= 200 {
		w.status = status
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 && w.err == nil {
		room := chunk - len(w.buf)
		k := min(room, len(p))
		w.buf = append(w.buf, p[:k]...)
		p = p[k:]
		if len(w.buf) == chunk {
			w.sendBuffered()
		}
	}
	return n - len(p), w.err
}

// Flush sends what is there, so that a handler can stream.
func (w *responseWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sendBuffered()
}

func (w *responseWriter) finishResponse() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.sent || len(w.buf) > 0 {
		w.sendBuffered()
	}
	return w.err
}

func (w *responseWriter) sendBuffered() {
	if w.err != nil {
		return
	}
	m := &pluginv1.ServeResponse{Body: w.buf}
	if !w.sent {
		if w.status == 0 {
			w.status = http.StatusOK
		}
		m.Head = &pluginv1.ResponseHead{
			Status:  int32(w.status),
			Headers: headersToProto(w.header),
		}
		w.sent = true
	}
	w.err = w.stream.Send(m)
	w.buf = make([]byte, 0, chunk)
}

func headersToProto(h http.Header) []*pluginv1.Header {
	out := make([]*pluginv1.Header, 0, len(h))
	for name, values := range h {
		out = append(out, &pluginv1.Header{
			Name:   name,
			Values: values,
		})
	}
	return out
}
