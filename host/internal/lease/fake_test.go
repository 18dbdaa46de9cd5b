package lease

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shared is a store of several nodes, with leases.
type shared struct {
	*storetest.Store
	mu     sync.Mutex
	next   int64
	leases map[int64]*fakeLease
}

type fakeLease struct {
	ttl   time.Duration
	timer *time.Timer
	keys  map[string]bool
}

func newShared(t *testing.T) *shared {
	s := &shared{Store: storetest.New(storetest.Options{}), leases: map[int64]*fakeLease{}}
	t.Cleanup(func() { s.Store.Close() })
	// Follow misses the very first transaction of a store.
	if _, err := s.Store.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("any", "thing", nil)}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shared) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range t.Ops {
		if o.Lease != 0 && s.leases[o.Lease] == nil {
			return 0, fault.New(fault.NotFound, "there is no lease %d", o.Lease)
		}
	}
	plain := t
	plain.Ops = slices.Clone(t.Ops)
	for i := range plain.Ops {
		plain.Ops[i].Lease = 0
	}
	rev, err := s.Store.Commit(ctx, plain)
	if err == nil {
		for _, o := range t.Ops {
			for _, l := range s.leases {
				delete(l.keys, o.Key)
			}
			if o.Lease != 0 {
				s.leases[o.Lease].keys[o.Key] = true
			}
		}
	}
	return rev, err
}

func (s *shared) grant(ttl time.Duration) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	id := s.next
	s.leases[id] = &fakeLease{ttl: ttl, keys: map[string]bool{}, timer: time.AfterFunc(ttl, func() { s.revoke(id) })}
	return id
}

func (s *shared) renew(id int64) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[id]
	if l == nil {
		return 0, fault.New(fault.NotFound, "there is no lease %d", id)
	}
	l.timer.Reset(l.ttl)
	return l.ttl, nil
}

func (s *shared) revoke(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[id]
	if l == nil {
		return
	}
	l.timer.Stop()
	delete(s.leases, id)
	var t datastore.Txn
	for key := range l.keys {
		t.Ops = append(t.Ops, datastore.Delete(Namespace, key))
	}
	if len(t.Ops) > 0 {
		_, _ = s.Store.Commit(context.Background(), t)
	}
}

// client is the store as one node reaches it.
type client struct {
	*shared
	mu     sync.Mutex
	cut    bool // no call arrives
	mute   bool // calls arrive, answers do not
	undead bool // renewals succeed though the lease has ended
	last   int64
}

var errCut = errors.New("the store does not answer")

func (c *client) state() (cut, mute, undead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut, c.mute, c.undead
}

func (c *client) set(f func(*client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

func (c *client) do(ctx context.Context, f func() error) error {
	cut, mute, _ := c.state()
	if cut {
		<-ctx.Done()
		return errCut
	}
	err := f()
	if mute {
		<-ctx.Done()
		return errCut
	}
	return err
}

func (c *client) Grant(ctx context.Context, ttl time.Duration) (id int64, err error) {
	err = c.do(ctx, func() error { id = c.grant(ttl); return nil })
	c.set(func(c *client) { c.last = id })
	return id, err
}

func (c *client) Renew(ctx context.Context, id int64) (ttl time.Duration, err error) {
	err = c.do(ctx, func() (err error) { ttl, err = c.renew(id); return err })
	if _, _, undead := c.state(); undead && fault.KindOf(err) == fault.NotFound {
		return DefaultTTL, nil
	}
	return ttl, err
}

func (c *client) Revoke(ctx context.Context, id int64) error {
	return c.do(ctx, func() error { c.revoke(id); return nil })
}

// Commit is bounded as an engine's is.
func (c *client) Commit(ctx context.Context, t datastore.Txn) (rev datastore.Revision, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err = c.do(ctx, func() (err error) { rev, err = c.shared.Commit(ctx, t); return err })
	return rev, err
}

func (c *client) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return c.do(ctx, func() error { return c.shared.View(ctx, f) })
}

// node is a manager on a shared store; end is to be called at the end of a bubble.
func node(s *shared, id string) (*Manager, *client) {
	c := &client{shared: s}
	return New(Options{Store: c, Leases: c, Node: Node{ID: id, Host: "h", Home: "/" + id}, Clock: func() int64 { return time.Now().UnixNano() }}), c
}
