package token

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ctl.internal/host/internal/datastore"
)

// maxDependents is how many tokens of a user one transaction removes. However many
// somebody has asked for, disabling the user must fit into it.
const maxDependents = 1000

// Dependents returns the writes that remove a user's tokens, for the transaction
// that ends the user's logins. That transaction gives the user another epoch, or none,
// which ends all tokens; those beyond maxDependents are left to the sweep.
func (s *Service) Dependents(sn datastore.Snapshot, user string) ([]datastore.Op, error) {
	var ops []datastore.Op
	for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: userKey(user, ""), Limit: maxDependents}) {
		if err != nil {
			return nil, err
		}
		ops = append(ops, remove(user, digestIn(e.Key))...)
	}
	return ops, nil
}

// Sweep removes expired tokens, and what is damaged, and returns how many.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	const batch = 1000 // writes
	var ops []datastore.Op
	total := 0
	commit := func() error {
		if len(ops) == 0 {
			return nil
		}
		_, err := s.o.Store.Commit(ctx, datastore.Txn{Ops: ops, Volatile: true})
		ops = nil
		return err
	}
	err := s.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: tokenKey("")}) {
			if err != nil {
				return err
			}
			r, err := decode(e)
			switch {
			case err != nil:
				ops = append(ops, datastore.Delete(namespace, e.Key))
			case s.o.Now().Before(r.Expires):
				continue
			default:
				ops = append(ops, remove(r.User, digestIn(e.Key))...)
			}
			if total++; len(ops) >= batch {
				if err := commit(); err != nil {
					return err
				}
			}
		}
		return commit()
	})
	return total, err
}

// Run sweeps now and then, and drops from the cache what other nodes revoke,
// until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.watch(ctx) })
	defer wg.Wait()
	t := time.NewTicker(10 * time.Minute)
	defer t.Stop()
	for {
		if _, err := s.Sweep(ctx); errors.Is(err, datastore.ErrClosed) {
			return nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Service) watch(ctx context.Context) {
	_ = datastore.Changed(ctx, s.o.Store, []datastore.Prefix{{Namespace: namespace, Key: "token/"}}, func(_ context.Context, b *datastore.Batch) error {
		if b == nil || slices.ContainsFunc(b.Events, func(e datastore.Event) bool { return e.Deleted }) {
			s.forget()
		}
		return nil
	})
}
