package conformance

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/datastore"
)

func conflicts(t *testing.T, s datastore.Store) {
	rev := commit(t, s, datastore.Put("n", "k", []byte("1")))
	now := commit(t, s, datastore.Put("n", "other", nil))
	for name, c := range map[string]datastore.Compare{
		"stale":         {Namespace: "n", Key: "k", Revision: rev - 1},
		"newer":         {Namespace: "n", Key: "k", Revision: now},
		"must be new":   {Namespace: "n", Key: "k"},
		"must be there": {Namespace: "n", Key: "absent", Revision: rev},
	} {
		_, err := s.Commit(within(t), datastore.Txn{Compares: []datastore.Compare{{Namespace: "n", Key: "none"}, c},
			Ops: []datastore.Op{datastore.Put("n", "k", []byte("2")), datastore.Put("n", "x", nil)}})
		t.Log(name)
		wantErr(t, err, datastore.ErrConflict)
	}
	want(t, s, "n", "k", "1")
	wantAbsent(t, s, "n", "x")
	if _, err := s.Commit(within(t), datastore.Txn{
		Compares: []datastore.Compare{{Namespace: "n", Key: "k", Revision: rev}, {Namespace: "n", Key: "x"}},
		Ops:      []datastore.Op{datastore.Put("n", "k", []byte("2"))}}); err != nil {
		t.Fatalf("a compare that holds: %v", err)
	}
	want(t, s, "n", "k", "2")
}

func increments(t *testing.T, s datastore.Store) {
	ctx := within(t)
	const workers, rounds = 8, 10
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for done := 0; done < rounds; {
				n, rev := 0, datastore.Revision(0)
				switch e, err := datastore.Get(ctx, s, "n", "counter"); {
				case err == nil:
					n, _ = strconv.Atoi(string(e.Value))
					rev = e.Revision
				case !errors.Is(err, datastore.ErrNotFound):
					t.Errorf("get: %v", err)
					return
				}
				_, err := s.Commit(ctx, datastore.Txn{Compares: []datastore.Compare{{Namespace: "n", Key: "counter", Revision: rev}},
					Ops: []datastore.Op{datastore.Put("n", "counter", []byte(strconv.Itoa(n+1)))}})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, datastore.ErrConflict):
					t.Errorf("commit: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	want(t, s, "n", "counter", strconv.Itoa(workers*rounds))
}

func bigTxn(t *testing.T, s datastore.Store) {
	const n = 5000
	var ops []datastore.Op
	for i := range n {
		ops = append(ops, datastore.Put("big", fmt.Sprintf("%06d", i), []byte(strings.Repeat("v", 100))))
	}
	rev := commit(t, s, ops...)
	count := 0
	err := s.View(within(t), func(sn datastore.Snapshot) error {
		for e, err := range sn.Range("big", datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			if e.Revision != rev {
				t.Fatalf("%s has revision %d, want %d", e.Key, e.Revision, rev)
			}
			count++
		}
		return nil
	})
	if err != nil || count != n {
		t.Fatalf("%d of %d, %v", count, n, err)
	}
	commit(t, s, datastore.DeletePrefix("big", ""))
	if left := keys(t, s, "big", datastore.RangeOptions{}); len(left) != 0 {
		t.Fatalf("%d keys left", len(left))
	}
}

// tooBig accepts an engine that takes everything; one that refuses must do so
// with ErrTooBig, change nothing and go on.
func tooBig(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "k", []byte("v")))
	var ops []datastore.Op
	for i := range 64 {
		ops = append(ops, datastore.Put("n", fmt.Sprintf("large/%d", i), make([]byte, 512<<10)))
	}
	switch _, err := s.Commit(within(t), datastore.Txn{Ops: ops}); {
	case err == nil:
		return
	default:
		wantErr(t, err, datastore.ErrTooBig)
	}
	if got := strings.Join(keys(t, s, "n", datastore.RangeOptions{}), " "); got != "k" {
		t.Fatalf("after the refusal the store holds %q, want k", got)
	}
	commit(t, s, datastore.Put("n", "k", []byte("w")))
	want(t, s, "n", "k", "w")
}

func volatile(t *testing.T, s datastore.Store) {
	rev, err := s.Commit(within(t), datastore.Txn{Volatile: true, Ops: []datastore.Op{datastore.Put("n", "k", []byte("v"))}})
	if err != nil {
		t.Fatal(err)
	}
	if e := want(t, s, "n", "k", "v"); e.Revision != rev {
		t.Fatalf("revision %d, want %d", e.Revision, rev)
	}
}
