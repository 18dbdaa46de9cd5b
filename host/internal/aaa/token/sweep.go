package token

import (
	"context"
	"errors"
	"slices"
	"time"

	"ctl.internal/host/internal/datastore"
)

// maxDependents is how many tokens of a user one transaction removes. However many
// somebody has asked for, disabling the user must fit into it.
const maxDependents = 500

// Dependents returns the writes that remove a user's tokens, for the transaction
// that ends the user's logins. That transaction gives the user another epoch, or none,
// which ends all tokens; those beyond maxDependents are left to the sweep.
func (s *Service) Dependents(sn datastore.Snapshot, user string) ([]datastore.Op, error) {
	var ops []datastore.Op
	for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: "user/" + user + "/", Limit: maxDependents}) {
		if err != nil {
			return nil, err
		}
		d := digestIn(e.Key)
		ops = append(ops, datastore.Delete(namespace, tokenKey(d)), datastore.Delete(namespace, e.Key))
		if r, _, err := readRecord(sn, d); err == nil && r != nil { // what is left of a damaged one is left to the sweep
			ops = append(ops, r.index(d)...)
		}
	}
	return ops, nil
}

// Sweep removes expired tokens and returns how many index entries it cleared.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	const batch = 500
	total := 0
	for {
		var ops []datastore.Op
		n := 0
		err := s.o.Store.View(ctx, func(sn datastore.Snapshot) error {
			end := expiryKey(s.o.Now(), "")
			for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: "expiry/", Limit: batch}) {
				if err != nil {
					return err
				}
				if e.Key >= end {
					return nil
				}
				n++
				d := digestIn(e.Key)
				ops = append(ops, datastore.Delete(namespace, e.Key), datastore.Delete(namespace, tokenKey(d)))
				r, _, err := readRecord(sn, d)
				if err != nil {
					return err
				}
				if r != nil {
					ops = append(ops, r.remove(d)...)
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			return total, err
		}
		if _, err := s.o.Store.Commit(ctx, datastore.Txn{Ops: ops, Volatile: true}); err != nil {
			return total, err
		}
		total += n
	}
}

// Run sweeps now and then, and drops from the cache what other nodes revoke,
// until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watch(ctx)
	}()
	defer func() { <-done }()
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
