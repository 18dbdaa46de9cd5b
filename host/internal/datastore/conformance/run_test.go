// Package conformance is the suite that every datastore engine passes: what the rooms above
// rely on, said once. An engine has a test in engines_test.go.
package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Opener makes an empty store that keeps the newest `history` transactions for
// watches (0 = the engine's default). The suite closes what it opens.
type Opener func(t *testing.T, history int) datastore.Store

// Run runs the whole suite against an engine.
func Run(t *testing.T, open Opener) {
	cases := []struct {
		name    string
		history int
		f       func(*testing.T, datastore.Store)
	}{
		{"a put value is read back with its revision", 0, putGet},
		{"an absent key is not found", 0, absent},
		{"values are copied in and out", 0, copies},
		{"empty values, binary keys and long keys are kept", 0, oddKeys},
		{"names that could run into a neighbour are refused", 0, badNames},
		{"namespaces do not see each other", 0, namespaces},
		{"a deleted key is gone, deleting again changes nothing", 0, deletes},
		{"a prefix is deleted, its neighbours are not", 0, deletePrefix},
		{"ops of one transaction apply in order", 0, opOrder},
		{"a compare that does not hold changes nothing", 0, conflicts},
		{"concurrent compare-and-put loses no update", 0, increments},
		{"a range is in byte order, bounded and pageable", 0, ranges},
		{"namespaces are listed in order, empty ones not", 0, listNamespaces},
		{"a range stops when the caller does", 0, rangeBreak},
		{"a view is one moment", 0, snapshots},
		{"a view's error is the caller's", 0, viewError},
		{"a transaction of 5,000 keys is one revision", 0, bigTxn},
		{"a transaction that is too large changes nothing", 0, tooBig},
		{"a change of any size is seen whole or not at all", 0, largeIsWhole},
		{"a change of any size has its conditions", 0, largeConditions},
		{"a change that its maker did not write to its keys is whole, and written by others", 0, largeUnfinished},
		{"parts of a change that was never made are swept", 0, largeSwept},
		{"a volatile transaction is visible at once", 0, volatile},
		{"a watch resumes after a revision, in order, without gaps", 0, watchResume},
		{"a watch reports only what its prefix touches", 0, watchFilter},
		{"a watch from now on reports nothing old", 0, watchNow},
		{"a watch older than the history says so", 4, watchCompacted},
		{"a watch over several prefixes reports progress", 0, progress},
		{"a compare of a prefix sees puts below it", 0, prefixCompares},
		{"a conflict names the key, its revision, who wrote it and when", 0, conflictsNameTheWriter},
		{"after a barrier local reads have every commit", 0, barrier},
		{"a follower that is too slow begins again and ends equal", 4, rebuilds},
		{"keys end with their lease, where there are leases", 0, leases},
		{"random transactions have one order", 0, linearizable},
		{"a watch ends with the caller's context or error", 0, watchEnds},
		{"a closed store refuses everything and ends its watches", 0, closed},
		{"an ended context is refused", 0, endedContext},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, c.history)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.f(t, s)
		})
	}
}

// deadline bounds what the suite waits for; only a broken engine meets it.
const deadline = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func commit(t *testing.T, s datastore.Store, ops ...datastore.Op) datastore.Revision {
	t.Helper()
	rev, err := s.Commit(within(t), datastore.Txn{Ops: ops})
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return rev
}

func want(t *testing.T, s datastore.Store, ns, key, value string) datastore.Entry {
	t.Helper()
	e, err := datastore.Get(within(t), s, ns, key)
	if err != nil {
		t.Fatalf("get %s/%s: %v", ns, key, err)
	}
	if e.Key != key || string(e.Value) != value {
		t.Fatalf("get %s/%s = %q %q, want %q", ns, key, e.Key, e.Value, value)
	}
	return e
}

func wantAbsent(t *testing.T, s datastore.Store, ns, key string) {
	t.Helper()
	if e, err := datastore.Get(within(t), s, ns, key); !errors.Is(err, datastore.ErrNotFound) {
		t.Fatalf("get %s/%s = %q, %v; want ErrNotFound", ns, key, e.Value, err)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("error %v, want %v", got, want)
	}
}

func keys(t *testing.T, s datastore.Store, ns string, o datastore.RangeOptions) []string {
	t.Helper()
	var out []string
	err := s.View(within(t), func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(ns, o) {
			if err != nil {
				return err
			}
			out = append(out, e.Key)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("range: %v", err)
	}
	return out
}
