// Package host is the host's side as a plugin sees it: a datastore of its own,
// the RPCs of other modules, events, secrets, certificates, and the switchboard
// that leads to other plugins. All calls need a context; those without a deadline
// get one from the host.
package host

import (
	"context"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/link"
	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// EnvNode is the environment variable with the name of the controller's node, for plugins of any language.
const EnvNode = "CTL_NODE"

// Client reaches the host's services. Its fields are safe for concurrent use.
type Client struct {
	Datastore    *Datastore
	Operations   *Operations
	Events       *Events
	Secrets      *Secrets
	Certificates *Certificates
	Switchboard  *Switchboard
	Traces       *Traces
	Roles        *Roles
	Troubles     *Troubles

	conn *grpc.ClientConn
	link *link.Conn
	// projection is the state that calls to the plugin must wait for; nil: none.
	projection atomic.Pointer[Projection]
}

// NewClient returns the services on a connection that carries the token already. Unary
// calls, those to other plugins included, go over the host's link; without one each call
// is made by itself, and the error, which is nil when the host serves none, says why. The
// client is good in any case.
func NewClient(ctx context.Context, conn *grpc.ClientConn) (*Client, error) {
	l, err := link.Open(ctx, conn)
	calls := following{l}
	return &Client{
		Datastore:    &Datastore{pluginv1.NewHostDatastoreClient(calls)},
		Operations:   &Operations{pluginv1.NewHostOperationsClient(calls)},
		Events:       &Events{pluginv1.NewHostEventsClient(calls)},
		Secrets:      &Secrets{pluginv1.NewHostSecretsClient(calls)},
		Certificates: &Certificates{pluginv1.NewHostCertificatesClient(calls)},
		Switchboard:  &Switchboard{pluginv1.NewHostSwitchboardClient(calls), calls},
		Traces:       &Traces{calls},
		Roles:        &Roles{pluginv1.NewHostRolesClient(calls)},
		Troubles:     &Troubles{pluginv1.NewHostTroublesClient(calls)},
		conn:         conn,
		link:         l,
	}, err
}

// Close ends the connection.
func (c *Client) Close() error {
	c.link.Close()
	return c.conn.Close()
}

// following hands on what the contexts of calls carry: a link does not pass the
// interceptors of the connection.
type following struct{ *link.Conn }

// Invoke makes a unary call.
func (f following) Invoke(
	ctx context.Context,
	method string,
	args, reply any,
	opts ...grpc.CallOption,
) error {
	return f.Conn.Invoke(onward.Continue(ctx), method, args, reply, opts...)
}

// Projection is data that follows the datastore; see package state.
type Projection interface {
	// WaitFor waits until the projection has the revision.
	WaitFor(ctx context.Context, revision uint64) error
}

// SetProjection names the projection that calls of the host wait for.
func (c *Client) SetProjection(p Projection) {
	c.projection.Store(&p)
}

// WaitFor waits until the plugin's projection, if it has one, has the revision that a
// call of the host asks for (wire.MetaMinRevision).
func (c *Client) WaitFor(ctx context.Context) error {
	p := c.projection.Load()
	if p == nil {
		return nil
	}
	v := metadata.ValueFromIncomingContext(ctx, wire.MetaMinRevision)
	if len(v) != 1 {
		return nil
	}
	revision, err := strconv.ParseUint(v[0], 10, 64)
	if err != nil {
		return fault.New(
			fault.Malformed,
			"the metadata %s: %q is not a revision",
			wire.MetaMinRevision,
			v[0],
		)
	}
	return (*p).WaitFor(ctx, revision)
}

// forEachMessage opens a stream and calls f with each of its messages, until the stream ends, which is an error, or f fails.
func forEachMessage[Q, A any](ctx context.Context, open func(context.Context, *Q, ...grpc.CallOption) (grpc.ServerStreamingClient[A], error),
	request *Q, f func(*A) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := open(ctx, request)
	for err == nil {
		var m *A
		if m, err = stream.Recv(); err != nil {
			break
		}
		if err := f(m); err != nil {
			return err
		}
	}
	return fault.FromStatus(err)
}
