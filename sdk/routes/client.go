package routes

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// hop are headers that belong to one connection and end at the host (RFC 9110
// section 7.6.1); Authorization and Cookie stay with the host's access control.
var hop = map[string]bool{
	"Connection":          true,
	"Keep-Alive":          true,
	"Proxy-Authenticate":  true,
	"Proxy-Authorization": true,
	"Proxy-Connection":    true,
	"Te":                  true,
	"Trailer":             true,
	"Transfer-Encoding":   true,
	"Upgrade":             true,
	"Authorization":       true,
	"Cookie":              true,
}

// What is still read of a request that was answered before its end.
const (
	linger    = 500 * time.Millisecond
	leftovers = 256 << 10 // in bytes
)

// Client forwards HTTP requests to a plugin.
type Client struct{ rpc pluginv1.RoutesClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewRoutesClient(conn)}
}

// Forward sends r to the plugin and copies the answer to w. An error before the
// first byte of the answer leaves w untouched, so that the host can answer; begun
// reports. An error after it can only abort the connection.
func (c *Client) Forward(w http.ResponseWriter, r *http.Request) (begun bool, err error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream, err := c.rpc.Serve(ctx)
	if err != nil {
		return false, fault.FromStatus(err)
	}
	sent := make(chan error, 1)
	go func() { sent <- sendRequest(stream, r) }()
	begun, err = (&answer{
		w:       w,
		head:    r.Method == http.MethodHead,
		allSent: func() bool { return len(sent) > 0 || hasNoRequestBody(r) },
	}).receiveAnswer(stream)
	cancel()
	if hasNoRequestBody(r) {
		<-sent // it does not block
		return begun, err
	}
	select {
	case <-sent:
	default:
		// The plugin answered without reading the whole request. The client gets the
		// answer, a moment to be rid of the rest, so that it does not find the
		// connection cut instead, and no other request on this connection. No goroutine
		// outlives the request.
		control := http.NewResponseController(w)
		if begun {
			_ = control.Flush()
		} else {
			w.Header().Set("Connection", "close")
		}
		_ = control.SetReadDeadline(time.Now().Add(linger))
		<-sent
	}
	return begun, err
}

// hasNoRequestBody reports that a request is sent without reading from its client.
func hasNoRequestBody(r *http.Request) bool {
	return r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody
}

func sendRequest(
	stream grpc.BidiStreamingClient[pluginv1.ServeRequest, pluginv1.ServeResponse],
	r *http.Request,
) error {
	head := &pluginv1.RequestHead{
		Method:        r.Method,
		Path:          r.URL.EscapedPath(),
		Query:         r.URL.RawQuery,
		Host:          r.Host,
		ContentLength: r.ContentLength,
		Caller:        caller.ToProto(r.Context()),
	}
	for name, values := range r.Header {
		if !hop[name] {
			head.Headers = append(head.Headers, &pluginv1.Header{
				Name:   name,
				Values: values,
			})
		}
	}
	if err := stream.Send(&pluginv1.ServeRequest{Head: head}); err != nil {
		return err
	}
	if hasNoRequestBody(r) {
		return stream.CloseSend()
	}
	for {
		// gRPC may hold a message after Send returns: a fresh buffer for each.
		buf := make([]byte, chunk)
		n, err := r.Body.Read(buf)
		if n > 0 {
			if e := stream.Send(&pluginv1.ServeRequest{Body: buf[:n]}); e != nil {
				_, _ = io.CopyN(io.Discard, r.Body, leftovers) // the plugin has answered, or is gone
				return e
			}
		}
		if errors.Is(err, io.EOF) {
			return stream.CloseSend()
		}
		if err != nil {
			return err
		}
	}
}
