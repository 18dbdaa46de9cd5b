// Package etcd is the datastore engine for several controllers on one etcd v3 cluster.
// Revisions are those of the cluster. Each controller follows the whole prefix with one
// watch and reads from memory; a read first asks the cluster for the newest commit
// (barrier.go). A cluster refuses transactions of more than --max-txn-ops operations (128
// when it is not set) and requests of more than --max-request-bytes; run it with
// --max-txn-ops=20000 and --max-request-bytes=16777216. The store compacts the cluster
// down to its newest revisions. One controller alone is better off with badger.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/sdk/fault"
)

// Options of a store.
type Options struct {
	Endpoints          []string
	Prefix             string        // of all keys; several controllers that share it share the data
	Timeout            time.Duration // of a call with all its tries; 0 = 5 s
	Username, Password string
	TLS                *tls.Config // nil = none
	History            int         // transactions kept for resuming watches; 0 = 4096
	// First is the revision that a store without data begins after: that of the snapshot
	// which is restored into it.
	First datastore.Revision
	// Back is called when the cluster lost what it had acknowledged.
	Back func(datastore.Back)
	Log  *slog.Logger
}

// wholeTimeout bounds an answer, with a little time to give it.
func (o Options) wholeTimeout() time.Duration {
	return o.Timeout * 19 / 20
}

// tryTimeout bounds the wait for one member, so that a frozen one leaves time for the others.
func (o Options) tryTimeout() time.Duration {
	return o.Timeout * 3 / 10
}

// hedgeDelay is how long a member may be silent before the next one is asked, too.
func (o Options) hedgeDelay() time.Duration {
	return o.Timeout / 20
}

// quietTime is how long a watch may bring nothing before the member is asked for a sign of life.
func (o Options) quietTime() time.Duration {
	return o.Timeout / 10
}

// stallTimeout is how long a watch may take to open, and how long the projection may stand still
// while the cluster has more, before the watch is opened at another member.
func (o Options) stallTimeout() time.Duration {
	return o.Timeout / 5
}

// trustedTime is how long after a barrier a commit is sent without another one.
func (o Options) trustedTime() time.Duration {
	return o.Timeout * 3 / 5
}

// Store is a datastore.Store in an etcd cluster.
type Store struct {
	o       Options
	node    string // for who reads a head
	members *members
	*projection.Projection
	ctx   context.Context // ends with the store
	end   context.CancelFunc
	owned sync.WaitGroup

	base   atomic.Int64         // see revision.go
	epoch  atomic.Int64         // revision of the epoch key: see commit.go
	latest atomic.Pointer[mark] // see past.go
	stale  atomic.Bool          // the cluster has another past: its state is to be read again
	asOf   atomic.Int64         // when the projection was last known to be complete, in Unix nanoseconds
	stuck  chan struct{}        // capacity 1: the watch is to be opened again
	barriers
	sent
}

var (
	_ datastore.Store     = (*Store)(nil)
	_ datastore.Leases    = (*Store)(nil)
	_ datastore.Clustered = (*Store)(nil)
)

// Open connects to a cluster and reads what it has. It fails with a fault of kind
// Unavailable when no member answers in time.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	node, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("datastore: %w", err)
	}
	s := &Store{
		o:          o,
		node:       fmt.Sprintf("%s/%d", node, os.Getpid()),
		members:    newMembers(o.Endpoints),
		Projection: projection.New(projection.Empty(o.History)),
		stuck:      make(chan struct{}, 1),
		barriers:   barriers{asks: make(chan chan error)},
		sent:       sent{ids: map[string]*commit{}},
	}
	s.latest.Store(&mark{})
	s.ctx, s.end = context.WithCancel(context.Background())
	begun := time.Now()
	if err = s.ensureBase(ctx); err == nil {
		err = s.loadProjection(ctx)
	}
	if err != nil {
		s.end()
		s.owned.Wait()
		return nil, errors.Join(
			fault.Wrap(
				fault.KindOf(err),
				err,
				"datastore: etcd %v does not answer: %v",
				o.Endpoints,
				err,
			),
			s.members.close(),
		)
	}
	s.asOf.Store(begun.UnixNano())
	s.owned.Go(s.followCluster)
	s.owned.Go(s.checkCluster)
	s.owned.Go(s.answerBarriers)
	return s, nil
}

// Local runs f on the projection as it is.
func (s *Store) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	age := s.projectionAge()
	return age, s.Projection.View(context.Background(), f)
}

func (s *Store) projectionAge() time.Duration {
	return time.Since(time.Unix(0, s.asOf.Load()))
}

// View runs f on a state that holds every transaction acknowledged before the call.
func (s *Store) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	if _, err := s.Barrier(ctx); err != nil {
		return err
	}
	return s.Projection.View(ctx, f)
}

// Close ends watches and the connections.
func (s *Store) Close() error {
	if !s.Projection.Close() {
		return nil
	}
	s.end()
	s.owned.Wait()
	return s.members.close()
}

// refusedError is an error after which the cluster has surely done nothing; nil for one that
// says nothing of that.
func (s *Store) refusedError(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrTooManyOps), errors.Is(err, rpctypes.ErrRequestTooLarge), tooLarge(err):
		return fmt.Errorf(
			"%w: %w (the cluster's --max-txn-ops and --max-request-bytes)",
			datastore.ErrTooBig,
			err,
		)
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fault.Wrap(fault.Unavailable, errors.Join(datastore.ErrFull, err),
			"the etcd cluster %v has reached its quota: compact and defragment it, clear its alarm, or raise --quota-backend-bytes", s.o.Endpoints)
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return fault.Wrap(fault.NotFound, err, "the lease has ended")
	case errors.Is(err, rpctypes.ErrFutureRev):
		return err
	case errors.Is(err, rpctypes.ErrCompacted):
		return fmt.Errorf("%w: %w", datastore.ErrCompacted, err)
	case errors.Is(err, rpctypes.ErrCorrupt):
		return fmt.Errorf("%w: %w", datastore.ErrDamaged, err)
	}
	if errors.Is(err, rpctypes.ErrInvalidAuthToken) || errors.Is(err, rpctypes.ErrAuthOldRevision) {
		return nil // the client logs in again
	}
	switch status.Code(rpcError(err)) {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition, codes.Unimplemented:
		return err
	}
	return nil
}

// rpcError is an error of the cluster as gRPC's, or as it is.
func rpcError(err error) error {
	var e rpctypes.EtcdError
	if errors.As(err, &e) {
		return status.Error(e.Code(), e.Error())
	}
	return err
}

// tooLarge recognises gRPC's own refusal of a message.
func tooLarge(err error) bool {
	return status.Code(err) == codes.ResourceExhausted && !errors.Is(err, rpctypes.ErrNoSpace)
}
