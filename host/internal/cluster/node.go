// Package cluster is the way between the nodes of a cluster: who they are (the identity of
// this node; the others are in package lease), a listener with mutual TLS, on which one
// node lets another make a call of a plugin that runs there only, and joining.
//
// A node has a certificate that it made itself. Its fingerprint is in the node's record in
// the store, and the others accept exactly that: who may write the store is a member.
package cluster

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/plugin/events"
)

// Roles is what package lease knows of nodes and roles.
type Roles interface {
	Members() []lease.Node
	Member(id string) (lease.Node, bool)
	Roles() []lease.Role
	Holder(role string) (lease.Role, bool)
	Changed() <-chan struct{}
	Reports() map[string][]byte
	Valid() time.Duration
	Clustered() bool
	StepDown(ctx context.Context, roles []string, pause time.Duration) []string
}

// Plugins are those that run on this node.
type Plugins interface {
	// Here returns a connection to a plugin that runs here in the term of an epoch.
	Here(name string, epoch uint64) (grpc.ClientConnInterface, error)
}

// Options of a Node.
type Options struct {
	Identity Identity
	Store    datastore.Store
	Roles    Roles
	Plugins  Plugins
	Bus      *events.Bus  // of what plugins publish
	Listener net.Listener // nil: other nodes cannot call this one
	Log      *slog.Logger

	waits waits // longer in tests, on machines that are busy
}

// Node is this node among the others. It is safe for concurrent use.
type Node struct {
	o      Options
	server *grpc.Server
	end    context.CancelFunc // of carryEvents
	work   sync.WaitGroup

	mu      sync.Mutex
	peers   map[string]peer // by id
	closed  bool
	checked time.Time // when the store was last asked for an unknown certificate
}

// peer is the connection to another node.
type peer struct {
	node lease.Node
	conn *grpc.ClientConn
}

// New returns a node that serves the others at once; Close ends that.
func New(o Options) *Node {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.waits == (waits{}) {
		o.waits = waits{
			dial:   time.Second,
			safe:   12 * time.Second,
			unsafe: time.Second,
		}
	}
	n := &Node{o: o, peers: map[string]peer{}}
	ctx, end := context.WithCancel(context.Background())
	n.end = end
	if o.Roles.Clustered() {
		n.work.Go(func() { n.carryEvents(ctx) })
	}
	if o.Listener != nil {
		n.server = n.newServer()
		n.work.Go(func() {
			if err := n.server.Serve(o.Listener); err != nil {
				o.Log.Error("the listener for other nodes ended", "error", err)
			}
		})
		o.Log.Info("listening", "listener", "cluster", "address", o.Listener.Addr().String())
	}
	return n
}

// Close ends calls of other nodes and the connections to them.
func (n *Node) Close() {
	n.end()
	if n.server != nil {
		n.server.Stop()
	}
	n.mu.Lock()
	n.closed = true
	peers := n.peers
	n.peers = map[string]peer{}
	n.mu.Unlock()
	for _, p := range peers {
		_ = p.conn.Close()
	}
	n.work.Wait()
}
