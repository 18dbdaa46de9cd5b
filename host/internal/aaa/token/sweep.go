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
	for e, err := range sn.Range(
		namespace,
		datastore.RangeOptions{
			Prefix: userKey(user, ""),
			Limit:  maxDependents,
		},
	) {
		if err != nil {
			return nil, err
		}
		ops = append(ops, removeTokenOps(user, digestIn(e.Key))...)
	}
	return ops, nil
}

// Sweep removes tokens that have expired by the clock of every node, and what is damaged, and returns how many.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	now, err := s.earliest(ctx)
	if err != nil {
		return 0, err
	}
	const batch = 1000 // writes
	var ops []datastore.Op
	total := 0
	commit := func() error {
		if len(ops) == 0 {
			return nil
		}
		_, err := s.o.Store.Commit(ctx, datastore.Txn{
			Ops:      ops,
			Volatile: true,
		})
		ops = nil
		return err
	}
	err = s.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: tokenKey("")}) {
			if err != nil {
				return err
			}
			r, err := decodeRecord(e)
			switch {
			case err != nil:
				ops = append(ops, datastore.Delete(namespace, e.Key))
			case now.Before(r.Expires):
				continue
			default:
				ops = append(ops, removeTokenOps(r.User, digestIn(e.Key))...)
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

// stampKey is where a process writes what its clock says, before each of its sweeps.
func stampKey(process string) string {
	return "clock/" + process
}

// stampsKept is for how many sweeps in a row a stamp may stay the same before its process counts as gone.
const stampsKept = 3

// stamp writes what the clock of this process says.
func (s *Service) stamp(ctx context.Context) error {
	data, err := s.o.Now().UTC().MarshalText()
	if err == nil {
		_, err = s.o.Store.Commit(
			ctx,
			datastore.Txn{
				Ops:      []datastore.Op{datastore.Put(namespace, stampKey(s.process), data)},
				Volatile: true,
			},
		)
	}
	return err
}

// seen is the stamp of another process: its revision, and at how many sweeps in a row it was that.
type seen struct {
	revision datastore.Revision
	times    int
}

// earliest is the time by the clock that is behind those of all other processes, so that a node whose clock is ahead
// removes nothing that lives by the clocks of the others. It forgets the stamps of processes that are gone.
func (s *Service) earliest(ctx context.Context) (time.Time, error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	now := s.o.Now()
	var gone []datastore.Op
	known := map[string]seen{}
	err := s.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: stampKey("")}) {
			var at time.Time
			if err != nil {
				return err
			}
			if e.Key == stampKey(s.process) {
				continue
			}
			of := s.stamps[e.Key]
			if of.revision != e.Revision {
				of = seen{revision: e.Revision}
			}
			of.times++
			if of.times > stampsKept || at.UnmarshalText(e.Value) != nil {
				gone = append(gone, datastore.Delete(namespace, e.Key))
				continue
			}
			known[e.Key] = of
			if at.Before(now) {
				now = at
			}
		}
		return nil
	})
	if err == nil && len(gone) > 0 {
		_, err = s.o.Store.Commit(ctx, datastore.Txn{
			Ops:      gone,
			Volatile: true,
		})
	}
	s.stamps = known
	return now, err
}

// Run sweeps now and then, and drops from the cache what other nodes revoke,
// until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.watchTokens(ctx) })
	defer wg.Wait()
	t := time.NewTicker(10 * time.Minute)
	defer t.Stop()
	for {
		if err := s.stamp(ctx); errors.Is(err, datastore.ErrClosed) {
			return nil
		}
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

func (s *Service) watchTokens(ctx context.Context) {
	_ = datastore.Changed(ctx, s.o.Store, []datastore.Prefix{{
		Namespace: namespace,
		Key:       "token/",
	}}, func(_ context.Context, b *datastore.Batch) error {
		if b == nil ||
			slices.ContainsFunc(b.Events, func(e datastore.Event) bool {
				return e.Deleted
			}) {
			s.clearCache()
		}
		return nil
	})
}
