// Package identity keeps users, roles, domains and grants in the datastore.
// Every change is one transaction with all that falls with it; the last enabled
// administrator cannot be removed; lookups go through indexes, never a scan.
//
// Who is logged in is package authn, what tokens exist is package token; both
// learn of changes by the principal they look up at each use.
package identity

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/aaa/cache"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Sealer encrypts what must not lie in the store in clear;
// package crypt has one.
type Sealer interface {
	Seal(plain, purpose []byte) ([]byte, error)
	Open(sealed, purpose []byte) ([]byte, error)
}

// Dependent returns the writes that must go with the end of a user's logins.
type Dependent func(sn datastore.Snapshot, userID string) ([]datastore.Op, error)

// Options are what a Service needs. Store and Hasher are required.
type Options struct {
	Store       datastore.Store
	Hasher      *password.Hasher
	Sealer      Sealer             // nil = the hash is stored as it is
	MinPassword int                // characters; 0 = 8
	Blocked     password.Blocklist // forbidden passwords
	MaxAge      time.Duration      // of a password; 0 = any
	ChangeFirst bool               // passwords made at random at the first start must be changed
	ChangeGiven bool               // passwords that another than the user chose must be changed
	Common      password.Blocklist // forbidden passwords, in lower case
	History     int                // last passwords of a user that cannot be chosen again, with the present; 0 = all can
	Now         func() time.Time   // nil = the real clock
	Dependents  []Dependent
	// Deleted returns the writes that go with a deleted user, besides Dependents; nil = none.
	Deleted func(userID string) []datastore.Op
	// NoDomain says why a domain cannot have a name, for what to do about it; "" = it can. Nil = all can.
	NoDomain func(name string) string
	// Audit is called with every committed change; who made it is in the context.
	Audit func(ctx context.Context, action, object string)
}

// Service is the identity database. It is safe for concurrent use.
type Service struct {
	o  Options
	mu sync.Mutex // one writer at a time: fewer conflicts, no other meaning

	// generation counts changes. A principal in the cache is good only while the
	// generation is the one read before it was loaded.
	generation atomic.Uint64
	principals *cache.Map[string, cached]
	// absent are users who are not here, for logins of users whom other realms know: the store
	// need not be asked about each of them each time.
	absent *cache.Map[string, cached]
}

// New returns the service over a store; Bootstrap fills an empty one.
func New(o Options) *Service {
	o.MinPassword = cmp.Or(o.MinPassword, 8)
	if o.Audit == nil {
		o.Audit = func(context.Context, string, string) {}
	}
	if o.NoDomain == nil {
		o.NoDomain = func(string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{
		o:          o,
		principals: cache.New[string, cached](maxPrincipals),
		absent:     cache.New[string, cached](maxAbsent),
	}
}

// Generation changes with every change of any identity.
func (s *Service) Generation() uint64 {
	return s.generation.Load()
}

// Run watches for changes made by other nodes of a cluster until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	return datastore.Changed(ctx, s.o.Store, []datastore.Prefix{{Namespace: namespace}}, func(context.Context, *datastore.Batch) error {
		s.generation.Add(1)
		return nil
	})
}

// updateRecords runs one optimistic transaction. change reads a snapshot and returns
// the writes; it runs again when another node was faster.
func (s *Service) updateRecords(
	ctx context.Context,
	change func(v view) ([]datastore.Op, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 16 {
		var ops []datastore.Op
		var guard datastore.Revision
		err := s.o.Store.View(ctx, func(sn datastore.Snapshot) (err error) {
			v := s.viewOf(sn)
			if guard, err = v.recordRevision(guardKey); err == nil {
				ops, err = change(v)
			}
			return err
		})
		if err != nil || len(ops) == 0 {
			return err
		}
		_, err = s.o.Store.Commit(ctx, datastore.Txn{
			Compares: []datastore.Compare{{
				Namespace: namespace,
				Key:       guardKey,
				Revision:  guard,
			}},
			Ops: append(ops, datastore.Put(namespace, guardKey, nil)),
		})
		s.generation.Add(1)
		switch {
		case errors.Is(err, datastore.ErrConflict):
			continue
		case errors.Is(err, datastore.ErrTooBig):
			return fault.Wrap(
				fault.InUse,
				err,
				"too much depends on it for one transaction; delete its users and roles first",
			)
		}
		return err
	}
	return fault.New(fault.Unavailable, "other nodes kept changing the identities; try again")
}

// readSnapshot runs f on a consistent snapshot.
func (s *Service) readSnapshot(ctx context.Context, f func(v view) error) error {
	return datastore.Read(ctx, s.o.Store, func(sn datastore.Snapshot) error {
		return f(s.viewOf(sn))
	})
}

func (s *Service) viewOf(sn datastore.Snapshot) view {
	return view{sn, s.o.Now()}
}
