package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/host/internal/datastore"
)

// compareWrites compares acknowledged writes of one key with those of the bare library.
func (o options) compareWrites(
	ctx context.Context,
	name string,
	s datastore.Store,
	peer string,
	bare func(key string) error,
) error {
	for _, n := range []int{1, 32} {
		ours, theirs, err := o.compareSides(ctx, n,
			func(i int64) error { return putValue(ctx, s, i) },
			func(i int64) error { return bare(benchKey(i)) })
		if err != nil {
			return err
		}
		fmt.Printf(
			"%s, writes on the disk, %d writers: %.0f/s, %s %.0f/s, ratio %.2f\n",
			name,
			n,
			ours,
			peer,
			theirs,
			ours/theirs,
		)
	}
	return nil
}

func putValue(ctx context.Context, s datastore.Store, i int64) error {
	_, err := s.Commit(
		ctx,
		datastore.Txn{Ops: []datastore.Op{datastore.Put("config-tree", benchKey(i), value)}},
	)
	return err
}

// compareAges compares a store that has seen many writes of its keys with one that has not. A PUT
// of a tree reads it, and replaces 20 documents under the condition that they are unchanged.
func (o options) compareAges(ctx context.Context, name string, fresh, aged datastore.Store) error {
	for i := range int64(keys) {
		for _, s := range []datastore.Store{fresh, aged} {
			if err := putValue(ctx, s, i); err != nil {
				return err
			}
		}
	}
	begun := time.Now()
	err := rig.Each(o.earlier, 32, func(i int) error {
		return putValue(ctx, aged, int64(i))
	})
	if err != nil {
		return err
	}
	fmt.Printf(
		"%s, after %d writes of the same %d keys (made at %.0f/s):\n",
		name,
		o.earlier,
		keys,
		float64(o.earlier)/time.Since(begun).Seconds(),
	)
	for _, m := range []struct {
		what    string
		callers int
		f       func(s datastore.Store, i int64) error
	}{
		{"PUT of a tree", 1, func(s datastore.Store, i int64) error {
			return putTree(ctx, s, i)
		}},
		{"GET of a tree", 4, func(s datastore.Store, i int64) error {
			_, _, err := getTree(ctx, s, i)
			return err
		}},
		{"write of a key", 32, func(s datastore.Store, i int64) error {
			return putValue(ctx, s, i)
		}},
	} {
		a, f, err := o.compareSides(ctx, m.callers, func(i int64) error {
			return m.f(aged, i)
		}, func(i int64) error { return m.f(fresh, i) })
		if err != nil {
			return err
		}
		fmt.Printf("  %s: %.0f/s, before %.0f/s, ratio %.2f\n", m.what, a, f, a/f)
	}
	return nil
}

const documents = 20

// getTree reads the documents of one of the trees, which share all but the last digits.
func getTree(
	ctx context.Context,
	s datastore.Store,
	i int64,
) (prefix string, at datastore.Revision, err error) {
	prefix = benchKey(i)[:len(benchKey(0))-2] // 100 documents begin with it
	n := 0
	err = s.View(ctx, func(sn datastore.Snapshot) error {
		at = sn.Revision()
		for _, err := range sn.Range(
			"config-tree",
			datastore.RangeOptions{
				Prefix: prefix,
				Limit:  documents,
			},
		) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err == nil && n != documents {
		err = fmt.Errorf("%d documents below %s", n, prefix)
	}
	return prefix, at, err
}

func putTree(ctx context.Context, s datastore.Store, i int64) error {
	prefix, at, err := getTree(ctx, s, i)
	if err != nil {
		return err
	}
	t := datastore.Txn{Compares: []datastore.Compare{{
		Namespace: "config-tree",
		Key:       prefix + "0",
		Revision:  at,
		Prefix:    true,
	}}}
	for d := range documents {
		t.Ops = append(t.Ops, datastore.Put("config-tree", fmt.Sprintf("%s%02d", prefix, d), value))
	}
	_, err = s.Commit(ctx, t)
	return err
}

// fanOut measures the time from the call of a commit until every watch has it.
func (o options) fanOut(
	ctx context.Context,
	name string,
	s datastore.Store,
	watchers []datastore.Store,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	got := make(chan datastore.Revision, len(watchers))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for _, w := range watchers {
		after := w.Revision() // before the first commit
		wg.Go(func() {
			_ = w.Watch(ctx, after, []datastore.Prefix{{Namespace: "fan"}}, func(b datastore.Batch) error {
				if len(b.Events) > 0 {
					got <- b.Revision
				}
				return nil
			})
		})
	}
	var took []time.Duration
	for end := time.Now().Add(o.duration); time.Now().Before(end); {
		begun := time.Now()
		rev, err := s.Commit(
			ctx,
			datastore.Txn{Ops: []datastore.Op{datastore.Put("fan", "k", value)}},
		)
		if err != nil {
			return err
		}
		late := time.After(10 * time.Second)
		for range watchers {
			select {
			case r := <-got:
				if r != rev {
					return fmt.Errorf("a watch has revision %d, want %d", r, rev)
				}
			case <-late:
				return fmt.Errorf("a watch does not get revision %d", rev)
			}
		}
		took = append(took, time.Since(begun))
	}
	fmt.Printf("%s: from the call of a commit to the last of %d watches: p50 %s, p99 %s\n", name, len(watchers),
		rig.At(took, 50).Round(time.Microsecond), rig.At(took, 99).Round(time.Microsecond))
	return nil
}
