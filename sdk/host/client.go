package host

import (
	"context"

	"google.golang.org/grpc"

	"ctl.internal/sdk/wire/link"
	"ctl.internal/sdk/wire/onward"
)

// Environment variables that the host sets for a plugin, of any language.
const (
	EnvSocket = "CTL_HOST_SOCKET" // path of the unix socket of the host's services
	EnvToken  = "CTL_HOST_TOKEN"  // metadata "ctl-token" of each call
	EnvParent = "CTL_HOST_PID"    // the host's process id
	EnvData   = "CTL_DATA_DIR"    // directory of the plugin's own
	EnvTraces = "CTL_HOST_TRACES" // "1": the host takes spans, see Traces
)

// Metadata keys of calls to the host's socket.
const (
	MetaToken    = "ctl-token"
	MetaProvider = "ctl-provider" // relay this call to the plugin of that name
	MetaRelay    = "ctl-relay"    // trailer: "provider-gone" when it was the provider that failed
)

// Client reaches the host's services. Its fields are safe for concurrent use.
type Client struct {
	Datastore    *Datastore
	Operations   *Operations
	Events       *Events
	Secrets      *Secrets
	Certificates *Certificates
	Switchboard  *Switchboard
	Traces       *Traces

	conn *grpc.ClientConn
	link *link.Conn // nil: every call is made by itself
}

// NewClient returns the services on a connection that carries the token already.
func NewClient(conn *grpc.ClientConn) *Client {
	return newClient(conn, conn)
}

// NewLinkedClient is NewClient with the unary calls over the link that the host serves
// since version 1.1 of the contract, those to other plugins included. It waits for the
// link while ctx lasts; without one each call is made by itself, and the error, which
// is nil when the host serves none, tells why. The client is good in any case.
func NewLinkedClient(ctx context.Context, conn *grpc.ClientConn) (*Client, error) {
	l, err := link.Open(ctx, conn)
	c := newClient(conn, following{l})
	c.link = l
	return c, err
}

func newClient(conn *grpc.ClientConn, calls grpc.ClientConnInterface) *Client {
	return &Client{
		Datastore:    newDatastore(calls),
		Operations:   newOperations(calls),
		Events:       newEvents(calls),
		Secrets:      newSecrets(calls),
		Certificates: newCertificates(calls),
		Switchboard:  newSwitchboard(calls),
		Traces:       newTraces(calls),
		conn:         conn,
	}
}

// Close ends the connection.
func (c *Client) Close() error {
	if c.link != nil {
		c.link.Close()
	}
	return c.conn.Close()
}

// following hands on what the contexts of calls carry: a link does not pass the
// interceptors of the connection.
type following struct{ *link.Conn }

// Invoke makes a unary call.
func (f following) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return f.Conn.Invoke(onward.Continue(ctx), method, args, reply, opts...)
}
