package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/host/internal/datastore"
)

// Options of a store.
type Options struct {
	Endpoints          []string
	Prefix             string        // of all keys; several controllers that share it share the data
	Timeout            time.Duration // of one call; 0 = 5 s
	Username, Password string
	TLS                *tls.Config // nil = none
	// History makes the store compact the cluster down to its newest revisions, as
	// far as its own writes show. 0 leaves that to the cluster's --auto-compaction.
	History int
}

// Store is a datastore.Store in an etcd cluster.
type Store struct {
	o      Options
	client *clientv3.Client
	newest atomic.Uint64 // highest revision seen
	once   sync.Once
	done   chan struct{}
}

var _ datastore.Store = (*Store)(nil)

// maxMessage is what client and cluster may exchange at once, in bytes.
const maxMessage = 64 << 20

// Open connects to a cluster, and fails when none answers in time.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: o.Endpoints, Username: o.Username, Password: o.Password, TLS: o.TLS,
		DialTimeout: o.Timeout, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: o.Timeout,
		MaxCallSendMsgSize: maxMessage, MaxCallRecvMsgSize: maxMessage,
		Logger: zap.NewNop(), // what matters comes back as an error
	})
	if err != nil {
		return nil, fmt.Errorf("datastore: etcd %v: %w", o.Endpoints, err)
	}
	s := &Store{o: o, client: client, done: make(chan struct{})}
	if _, err := s.now(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("datastore: etcd %v does not answer: %w", o.Endpoints, err), client.Close())
	}
	return s, nil
}

// now asks the cluster for its newest revision.
func (s *Store) now(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	r, err := s.client.Get(ctx, s.o.Prefix, clientv3.WithCountOnly())
	if err != nil {
		return 0, s.translate(err)
	}
	s.saw(r.Header.Revision)
	return r.Header.Revision, nil
}

func (s *Store) saw(rev int64) {
	for {
		old := s.newest.Load()
		if uint64(rev) <= old || s.newest.CompareAndSwap(old, uint64(rev)) {
			return
		}
	}
}

// Revision asks the cluster, and is the highest one seen when that is silent.
func (s *Store) Revision() datastore.Revision {
	if !s.closed() {
		_, _ = s.now(context.Background()) // bounded by the timeout; what was seen counts
	}
	return datastore.Revision(s.newest.Load())
}

func (s *Store) closed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Close ends watches and the connection.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.done)
		err = s.client.Close()
	})
	return err
}

// translate gives the cluster's errors the meanings of package datastore.
func (s *Store) translate(err error) error {
	switch {
	case err == nil:
		return nil
	case s.closed():
		return datastore.ErrClosed
	case errors.Is(err, rpctypes.ErrTooManyOps), errors.Is(err, rpctypes.ErrRequestTooLarge), tooLarge(err):
		return fmt.Errorf("%w: %w (the cluster's --max-txn-ops and --max-request-bytes)", datastore.ErrTooBig, err)
	case errors.Is(err, rpctypes.ErrCompacted):
		return fmt.Errorf("%w: %w", datastore.ErrCompacted, err)
	case errors.Is(err, rpctypes.ErrCorrupt):
		return fmt.Errorf("%w: %w", datastore.ErrDamaged, err)
	}
	return err
}

// tooLarge recognises gRPC's own refusal of a message.
func tooLarge(err error) bool {
	return status.Code(err) == codes.ResourceExhausted && !errors.Is(err, rpctypes.ErrNoSpace)
}
