// Package lease says which nodes of a cluster are alive and gives each role to one
// holder at a time, among the processes of this node and among all nodes.
//
// A node has one lease. Its record node/ID and the keys role/NAME of the roles that it
// holds are under that lease, so they go when it is not renewed. The revision of a role's
// key is the epoch of its holder, which every fenced transaction compares. A term ends for
// its holder two thirds of the lease after the last confirmed renewal was sent, by
// CLOCK_BOOTTIME: before the store gives the role to another node.
//
// Without an engine that has leases (one node alone) a role is granted at once and for as
// long as its holder likes.
package lease

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
)

// DefaultTTL is how long a node that is silent counts as alive.
const DefaultTTL = 6 * time.Second

// Options of a Manager.
type Options struct {
	Store  datastore.Store
	Leases datastore.Leases // nil: this node is alone
	Node   Node             // Instance and Lease are filled in
	TTL    time.Duration    // 0 = DefaultTTL
	Log    *slog.Logger
	// Clock is in nanoseconds; nil = CLOCK_BOOTTIME, which also runs while the machine
	// sleeps.
	Clock func() int64
}

// Manager keeps the lease of this node and its roles. It is safe for concurrent use.
type Manager struct {
	o       Options
	metrics *metrics
	ctx     context.Context // ends with Close
	end     context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	changed together.Signal // when anything below changes
	session *session        // nil: no lease at present
	seats   map[string]*seat
	paused  map[string]time.Time // roles that this node does not try to get before then
	known   known
	report  []byte // what runs on this node
	unsent  bool   // the report differs from that in the store
}

// New returns a manager and begins to keep the lease of the node; Close ends it.
func New(o Options) *Manager {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = boottimeNanos
	}
	o.Node.Instance = rand.Text()
	m := &Manager{
		o:       o,
		metrics: newMetrics(),
		seats:   map[string]*seat{},
		paused:  map[string]time.Time{},
	}
	m.ctx, m.end = context.WithCancel(context.Background())
	if o.Leases != nil {
		m.work.Go(func() {
			_ = datastore.Follow(
				m.ctx,
				o.Store,
				[]datastore.Prefix{{Namespace: Namespace}},
				follower{m},
			)
		})
		m.work.Go(m.runSessions)
	}
	return m
}

// Close gives up the lease, and with it everything that is still held. The holders must
// have stopped before.
func (m *Manager) Close() {
	m.end()
	m.work.Wait()
}

// Clustered reports whether there may be other nodes.
func (m *Manager) Clustered() bool { return m.o.Leases != nil }

// Changed returns a channel that is closed at the next change of members, roles or the
// lease of this node.
func (m *Manager) Changed() <-chan struct{} {
	return m.changed.Wait()
}

// boottimeNanos is CLOCK_BOOTTIME in nanoseconds.
func boottimeNanos() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
