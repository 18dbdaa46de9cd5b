package cluster

import (
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/internal/wire/frames"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what all nodes of a test know.
type world struct {
	waits waits // of its nodes, those of a controller if not set

	mu      sync.Mutex
	changed chan struct{}
	nodes   map[string]lease.Node
	roles   map[string]lease.Role
}

func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

// view is the world as one node sees it.
type view struct {
	*world
	id      string
	stepped []string
	late    bool   // the node has not seen yet who holds what
	asked   int    // how often it was asked who holds a role
	third   func() // is called the third time
}

func (v *view) Self() lease.Node { n, _ := v.Member(v.id); return n }
func (v *view) Members() (out []lease.Node) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range v.nodes {
		out = append(out, n)
	}
	return out
}
func (v *view) Member(id string) (lease.Node, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, ok := v.nodes[id]
	return n, ok
}
func (v *view) Roles() (out []lease.Role) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.roles {
		out = append(out, r)
	}
	return out
}
func (v *view) Holder(role string) (lease.Role, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asked++; v.asked == 3 && v.third != nil {
		go v.third()
	}
	r, ok := v.roles[role]
	return r, ok && !v.late
}
func (v *view) Changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed
}
func (v *view) Reports() map[string][]byte {
	return map[string][]byte{v.id: []byte(`{"plugins":[{"name":"p"}]}`)}
}
func (v *view) Valid() time.Duration { return time.Second }
func (v *view) Clustered() bool      { return true }
func (v *view) StepDown(_ context.Context, roles []string, _ time.Duration) []string {
	v.stepped = roles
	return roles
}

// local is the plugin of a node: it answers by a function.
type local struct {
	mu     sync.Mutex
	epoch  uint64
	calls  int
	answer func(ctx context.Context, request string) (string, error)
}

func (l *local) Here(_ string, epoch uint64) (grpc.ClientConnInterface, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch != l.epoch {
		return nil, plugin.ErrElsewhere
	}
	return l, nil
}

func (l *local) Invoke(ctx context.Context, _ string, args, reply any, _ ...grpc.CallOption) error {
	l.mu.Lock()
	l.calls++
	answer := l.answer
	l.mu.Unlock()
	text, err := answer(ctx, string(args.(*frames.Message).Body))
	reply.(*frames.Message).Body = []byte(text)
	return err
}

func (l *local) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, plugin.ErrElsewhere
}

func (l *local) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

type testNode struct {
	*Node
	view   *view
	plugin *local
	bus    *events.Bus
}

// newNode starts a node of a world; without join it has no record there.
func newNode(t *testing.T, w *world, join bool) *testNode {
	t.Helper()
	dir := home.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	id, err := OpenIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.New(storetest.Options{})
	n := &testNode{view: &view{world: w, id: id.ID}, plugin: &local{}}
	n.bus = events.New()
	n.Node = New(Options{Identity: id, Store: store, Roles: n.view, Plugins: n.plugin, Bus: n.bus, Listener: listener, waits: w.waits})
	t.Cleanup(func() { n.Close(); n.bus.Close(); store.Close() })
	if join {
		w.set(func() {
			w.nodes[id.ID] = lease.Node{ID: id.ID, Address: listener.Addr().String(), Fingerprint: id.Fingerprint}
		})
	}
	return n
}

// give makes a node the holder of the plugin p.
func (w *world) give(n *testNode, epoch uint64) {
	w.set(func() {
		w.roles["plugin/p"] = lease.Role{Name: "plugin/p", Node: n.o.Identity.ID, Epoch: revision(epoch)}
	})
	n.plugin.mu.Lock()
	defer n.plugin.mu.Unlock()
	n.plugin.epoch = epoch
}
