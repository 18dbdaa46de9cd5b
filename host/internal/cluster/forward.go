package cluster

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/internal/wire"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// waits are what forwarding waits for.
type waits struct {
	dial   time.Duration // for a connection to the node [1 s]
	safe   time.Duration // of a safe call, for a node to take the role over [12 s]
	unsafe time.Duration // of any other [1 s]
}

func retryLaterError(format string, args ...any) error {
	return plugin.Unavailable(2*time.Second, format, args...)
}

// Conn returns a connection to a plugin on a node; with an empty node on the one that holds
// its role. A call is forwarded once. When the node refuses it unseen or is not reached,
// the role is looked up once more; a call that may have begun is repeated only when it is
// safe.
func (n *Node) Conn(name, node string) grpc.ClientConnInterface {
	return forwarder{n, name, node}
}

type forwarder struct {
	n      *Node
	plugin string
	node   string // "" = the holder of the plugin's role
}

// target is where a call goes.
type target struct {
	role lease.Role
	conn grpc.ClientConnInterface
	here bool
}

// NewStream implements grpc.ClientConnInterface. A stream that has begun is not repeated;
// it ends when the role goes to another node.
func (f forwarder) NewStream(
	ctx context.Context,
	desc *grpc.StreamDesc,
	method string,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	t, err := f.findTarget(ctx, 0)
	if err != nil && t.role.Epoch != 0 {
		t, err = f.findTarget(ctx, t.role.Epoch)
	}
	if err != nil {
		return nil, err
	}
	if t.here {
		return t.conn.NewStream(ctx, desc, method, opts...)
	}
	during, cancel := context.WithCancelCause(ctx)
	stream, err := t.conn.NewStream(f.outgoingContext(during, t, ""), desc, method, opts...)
	if err != nil {
		cancel(nil)
		return nil, f.callError(err, nil)
	}
	go f.watchHolder(stream.Context(), t, cancel) // ends with the stream
	context.AfterFunc(stream.Context(), func() { cancel(nil) })
	return &forwardedStream{stream, f}, nil
}

type forwardedStream struct {
	grpc.ClientStream
	f forwarder
}

// RecvMsg implements grpc.ClientStream.
func (s *forwardedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	c := status.Code(err)
	if err != nil && (c == codes.Unavailable || c == codes.Canceled) {
		return s.f.callError(err, s.ClientStream.Trailer())
	}
	return err
}

// Invoke implements grpc.ClientConnInterface. It makes the call, and a second time where that is right.
func (f forwarder) Invoke(
	ctx context.Context,
	method string,
	args, reply any,
	opts ...grpc.CallOption,
) error {
	not := datastore.Revision(0) // an epoch that was tried in vain
	var err error
	for range 2 {
		var t target
		if t, err = f.findTarget(ctx, not); err != nil {
			if not = t.role.Epoch; not == 0 {
				return err
			}
			continue
		}
		var trailer metadata.MD
		during, cancel := context.WithCancelCause(ctx)
		var watching sync.WaitGroup
		if t.here {
			err = t.conn.Invoke(during, method, args, reply, opts...)
		} else {
			watching.Go(func() { f.watchHolder(during, t, cancel) })
			err = t.conn.Invoke(f.outgoingContext(during, t, "1"), method, args, reply, append(opts, grpc.Trailer(&trailer))...)
		}
		moved := context.Cause(during) == errMoved
		cancel(nil)
		watching.Wait()
		if err == nil || ctx.Err() != nil {
			return err
		}
		refused := len(trailer.Get(metaRefused)) > 0
		gone := moved || status.Code(err) == codes.Unavailable && len(status.Convert(err).Details()) == 0
		if !refused && !gone {
			return f.callError(err, trailer)
		}
		if gone && !refused && !plugin.IsSafe(ctx) {
			return retryLaterError(
				"node %s ended or lost plugin %s during the call; it is not known whether the call was carried out",
				t.role.Node,
				f.plugin,
			)
		}
		not = t.role.Epoch
	}
	return f.callError(err, nil)
}

// callError is the error of a call as the user gets it.
func (f forwarder) callError(err error, trailer metadata.MD) error {
	if seconds, e := strconv.Atoi(firstMetadataValue(trailer, metaRetry)); e == nil {
		return plugin.Unavailable(
			time.Duration(seconds)*time.Second,
			"%s",
			status.Convert(err).Message(),
		)
	}
	if status.Code(err) == codes.Unavailable && len(status.Convert(err).Details()) == 0 {
		return retryLaterError(
			"plugin %s runs on another node, which does not answer: %s",
			f.plugin,
			status.Convert(err).Message(),
		)
	}
	return err
}

// findTarget returns a connection to the node that runs the plugin, in another term than one
// that was tried already. After an error the role says which term it was.
func (f forwarder) findTarget(ctx context.Context, not datastore.Revision) (target, error) {
	wait := f.n.o.waits.unsafe
	if plugin.IsSafe(ctx) {
		wait = f.n.o.waits.safe
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if f.node != "" {
		c, err := f.n.dialNode(ctx, f.node)
		return target{
			role: lease.Role{Node: f.node},
			conn: c,
		}, err
	}
	role := plugin.RolePrefix + f.plugin
	for {
		changed := f.n.o.Roles.Changed()
		r, ok := f.n.o.Roles.Holder(role)
		if ok && r.Epoch != not {
			if r.Node == f.n.o.Identity.ID {
				if c, err := f.n.o.Plugins.Here(f.plugin, uint64(r.Epoch)); err == nil {
					return target{r, c, true}, nil
				}
			} else {
				c, err := f.n.dialNode(ctx, r.Node)
				return target{role: r, conn: c}, err
			}
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond): // this node has the role, and the plugin is being started
		case <-ctx.Done():
			return target{}, retryLaterError(
				"no node runs plugin %s at present: the role %s is handed over",
				f.plugin,
				role,
			)
		}
	}
}

// outgoingContext is the context of a forwarded call.
func (f forwarder) outgoingContext(ctx context.Context, t target, unary string) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	out := carriedMetadata(md)
	out.Set(metaPlugin, f.plugin)
	out.Set(metaEpoch, strconv.FormatUint(uint64(t.role.Epoch), 10))
	out.Set(metaHop, "1")
	if unary != "" {
		out.Set(metaUnary, unary)
	}
	if plugin.IsSafe(ctx) {
		out.Set(metaSafe, "1")
	}
	if aaa.IsPlugin(ctx) {
		out.Set(metaActing, "1")
	}
	if who, ok := caller.From(ctx); ok {
		if text, err := json.Marshal(who); err == nil {
			out.Set(metaCaller+"-bin", string(text))
		}
	}
	return metadata.NewOutgoingContext(ctx, out)
}

// errMoved is the cause of a call's end when its role went to another node.
var errMoved = fault.New(fault.Unavailable, "the role went to another node")

// watchHolder ends a call when the node that serves it has lost the role, or its lease: a node
// that is frozen does not say so itself.
func (f forwarder) watchHolder(ctx context.Context, t target, cancel context.CancelCauseFunc) {
	for {
		changed := f.n.o.Roles.Changed()
		if f.node != "" {
			if _, alive := f.n.o.Roles.Member(f.node); !alive {
				cancel(errMoved)
				return
			}
		} else if r, ok := f.n.o.Roles.Holder(t.role.Name); !ok || r.Epoch != t.role.Epoch {
			cancel(errMoved)
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// dialNode returns a connection to a node that is ready to carry a call.
func (n *Node) dialNode(ctx context.Context, id string) (*grpc.ClientConn, error) {
	c, err := n.peerConn(id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, n.o.waits.dial)
	defer cancel()
	for {
		state := c.GetState()
		switch state {
		case connectivity.Ready:
			return c, nil
		case connectivity.Idle:
			c.Connect()
		case connectivity.Shutdown:
			return nil, retryLaterError("node %s has gone", id)
		}
		if !c.WaitForStateChange(ctx, state) {
			return nil, retryLaterError("node %s is not reached", id)
		}
	}
}

// peerConn returns the connection to a node as its record says.
func (n *Node) peerConn(id string) (*grpc.ClientConn, error) {
	node, ok := n.o.Roles.Member(id)
	if !ok {
		return nil, retryLaterError("node %s has left the cluster", id)
	}
	if node.Address == "" {
		return nil, retryLaterError(
			"node %s takes no calls of other nodes: cluster.listen is off there",
			id,
		)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, fault.New(fault.Unavailable, "the controller is stopping")
	}
	for other, p := range n.peers { // connections to nodes that have left
		if _, alive := n.o.Roles.Member(other); !alive {
			_ = p.conn.Close()
			delete(n.peers, other)
		}
	}
	p, ok := n.peers[id]
	if ok && p.node.Address == node.Address && p.node.Fingerprint == node.Fingerprint {
		return p.conn, nil
	}
	if ok {
		_ = p.conn.Close()
		delete(n.peers, id)
	}
	conn, err := grpc.NewClient("passthrough:///"+node.Address, wire.DialOptions(
		grpc.WithTransportCredentials(n.clientTLS(node)), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time:    10 * time.Second,
			Timeout: 3 * time.Second,
		}))...)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "node %s: %v", id, err)
	}
	n.peers[id] = peer{node, conn}
	return conn, nil
}
