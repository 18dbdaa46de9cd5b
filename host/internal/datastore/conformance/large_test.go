package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/etcd"
	"ctl.internal/host/internal/datastore/large"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/test/harness"
)

// engine keeps an engine open for the suite, which closes it: several large stores are made
// of one engine, as several processes of a cluster are.
type engine struct{ datastore.Store }

func (engine) Close() error { return nil }

// small is an engine that takes few keys at once, whatever the real one takes.
type small struct {
	engine
	keys int
}

func (s small) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if len(t.Ops) > s.keys {
		return 0, datastore.ErrTooBig
	}
	return s.Store.Commit(ctx, t)
}

// stopped is an engine whose process ends when a transaction passes the test.
type stopped struct {
	small
	at func(datastore.Txn) bool
}

var errEnded = errors.New("the process has ended")

func (s stopped) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if s.at(t) {
		return 0, errEnded
	}
	return s.small.Commit(ctx, t)
}

func largeOf(t *testing.T, s datastore.Store) datastore.Store {
	t.Helper()
	l := large.Of(s, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// replace are operations that write a value to n keys, and delete those of another prefix.
func replace(put, del, value string, n int) (ops []datastore.Op) {
	for i := range n {
		ops = append(ops, datastore.Put("big", fmt.Sprintf("%s/%06d", put, i), []byte(value)))
	}
	return append(ops, datastore.DeletePrefix("big", del+"/"))
}

// content says what the keys of a snapshot are: how many of which prefix and value.
func content(sn datastore.Snapshot) string {
	counts := map[string]int{}
	for e, err := range sn.Range("big", datastore.RangeOptions{Shared: true}) {
		if err != nil {
			return err.Error()
		}
		counts[e.Key[:1]+string(e.Value)]++
	}
	return fmt.Sprint(counts)
}

func contentOf(t *testing.T, s datastore.Store) (out string) {
	t.Helper()
	if err := s.View(within(t), func(sn datastore.Snapshot) error { out = content(sn); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// follower keeps a copy of what is in the keys, from the batches of a watch alone.
type copied map[string]string

func (c copied) Reset(sn datastore.Snapshot) error {
	clear(c)
	for e, err := range sn.Range("big", datastore.RangeOptions{}) {
		if err != nil {
			return err
		}
		c[e.Key] = string(e.Value)
	}
	return nil
}

func (c copied) Apply(b datastore.Batch) error {
	for _, e := range b.Events {
		if e.Deleted {
			delete(c, e.Key)
		} else {
			c[e.Key] = string(e.Value)
		}
	}
	return nil
}

// Readers and followers see all of one change after the other, never a mixture.
func largeIsWhole(t *testing.T, raw datastore.Store) {
	const n, rounds = 500, 6
	s := largeOf(t, small{engine{raw}, 64})
	ctx, cancel := context.WithCancel(within(t))
	var wg sync.WaitGroup
	good := func(got string) bool {
		return got == "map[]" || strings.Count(got, ":") == 1 && strings.HasSuffix(got, fmt.Sprintf(":%d]", n))
	}
	wg.Go(func() {
		c := copied{}
		at := s.Revision()
		_ = s.View(ctx, func(sn datastore.Snapshot) error { at = sn.Revision(); return c.Reset(sn) })
		_ = s.Watch(ctx, at, []datastore.Prefix{{Namespace: "big"}}, func(b datastore.Batch) error {
			_ = c.Apply(b)
			if len(c) != 0 && len(c) != n {
				t.Errorf("a follower has %d keys after revision %d", len(c), b.Revision)
			}
			return nil
		})
	})
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = s.View(ctx, func(sn datastore.Snapshot) error {
				if got := content(sn); !good(got) {
					t.Errorf("a reader sees %s", got)
				}
				return nil
			})
		}
	})
	for i := range rounds {
		put, del := "a", "b"
		if i%2 == 1 {
			put, del = del, put
		}
		rev, err := s.Commit(within(t), datastore.Txn{By: "ann", Ops: replace(put, del, fmt.Sprint(i), n)})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := contentOf(t, s), fmt.Sprintf("map[%s%d:%d]", put, i, n); got != want {
			t.Fatalf("after revision %d: %s, want %s", rev, got, want)
		}
	}
	cancel()
	wg.Wait()
	if left := keys(t, s, projection.Staged, datastore.RangeOptions{}); len(left) != 0 {
		t.Errorf("there are still parts: %v", left)
	}
	if got := contentOf(t, raw); got != fmt.Sprintf("map[b%d:%d]", rounds-1, n) {
		t.Errorf("the engine has %s", got)
	}
}

// Conditions, few or many, hold at the moment of the change, and later ones see it.
func largeConditions(t *testing.T, raw datastore.Store) {
	s := largeOf(t, small{engine{raw}, 64})
	first, err := s.Commit(within(t), datastore.Txn{Ops: replace("a", "none", "1", 300)})
	if err != nil {
		t.Fatal(err)
	}
	held := func() (all []datastore.Compare) {
		err := s.View(within(t), func(sn datastore.Snapshot) error {
			for e := range sn.Range("big", datastore.RangeOptions{}) {
				all = append(all, datastore.Compare{Namespace: "big", Key: e.Key, Revision: e.Revision})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := held()
	commit(t, s, datastore.Put("big", "a/000007", []byte("x")))
	_, err = s.Commit(within(t), datastore.Txn{Compares: before, Ops: replace("a", "none", "2", 300)})
	wantErr(t, err, datastore.ErrConflict)
	_, err = s.Commit(within(t), datastore.Txn{Compares: []datastore.Compare{{Namespace: "big", Key: "a/", Prefix: true, Revision: first}}, Ops: replace("a", "none", "2", 300)})
	wantErr(t, err, datastore.ErrConflict)
	want(t, s, "big", "a/000001", "1")
	if left := keys(t, s, projection.Staged, datastore.RangeOptions{}); len(left) != 0 {
		t.Errorf("parts of what was refused are left: %v", left)
	}
	now := held()
	if _, err = s.Commit(within(t), datastore.Txn{Compares: now, Ops: replace("a", "none", "3", 300)}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(within(t), datastore.Txn{Compares: now[:1], Ops: []datastore.Op{datastore.Delete("big", "a/000000")}})
	wantErr(t, err, datastore.ErrConflict)
	if _, err = s.Commit(within(t), datastore.Txn{Compares: held()[:1], Ops: []datastore.Op{datastore.Delete("big", "a/000000")}}); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, s, "big", "a/000000")
}

// The maker ends in the middle of writing the keys: the change is whole for everybody, and
// the next process writes the rest. Who changes a key of it then is not overtaken by it.
func largeUnfinished(t *testing.T, raw datastore.Store) {
	commit(t, raw, replace("b", "none", "old", 50)...)
	written := 0
	dies := func(t datastore.Txn) bool { // after it was put in force and some keys were written
		if len(t.Ops) > 1 && len(t.Ops) <= 64 && t.Ops[0].Namespace == "big" {
			written++
		}
		return written > 2
	}
	maker := largeOf(t, stopped{small{engine{raw}, 64}, dies})
	if _, err := maker.Commit(within(t), datastore.Txn{Ops: replace("a", "b", "new", 400)}); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, raw); got != "map[anew:400]" {
		t.Fatalf("it is not whole: %s", got)
	}
	if err := raw.View(within(t), func(sn datastore.Snapshot) error {
		if n := count(sn.(*projection.State)); n == 0 || n == 450 {
			t.Errorf("%d keys are unwritten: the test does not test it", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	next := largeOf(t, small{engine{raw}, 64})
	commit(t, next, datastore.Delete("big", "a/000399"), datastore.Put("big", "b/000001", []byte("later")))
	if got := contentOf(t, raw); got != "map[anew:399 blater:1]" {
		t.Errorf("after the next process: %s", got)
	}
	if left := keys(t, raw, projection.Staged, datastore.RangeOptions{}); len(left) != 0 {
		t.Errorf("there are still parts: %v", left)
	}
}

func count(st *projection.State) (n int) {
	for range st.Unwritten() {
		n++
	}
	return n
}

// The maker ends before the change: nobody has seen any of it, and its parts go where no
// other process can be at work on them.
func largeSwept(t *testing.T, raw datastore.Store) {
	maker := largeOf(t, stopped{small{engine{raw}, 64}, func(t datastore.Txn) bool {
		return t.Ops[0].Key == projection.SwitchKey || t.Ops[0].Delete
	}})
	_, err := maker.Commit(within(t), datastore.Txn{Ops: replace("a", "b", "new", 400)})
	wantErr(t, err, errEnded)
	if got := contentOf(t, raw); got != "map[]" {
		t.Errorf("something of it is there: %s", got)
	}
	if len(keys(t, raw, projection.Staged, datastore.RangeOptions{})) == 0 {
		t.Error("there are no parts: the test does not test it")
	}
	if _, shared := raw.(datastore.Leases); shared {
		return // others may be at work for some minutes
	}
	next := largeOf(t, small{engine{raw}, 64})
	harness.Within(t, "the parts are swept", func() bool {
		return len(keys(t, next, projection.Staged, datastore.RangeOptions{})) == 0
	})
}

// A process that opens the engine finds the change whole that another one has put in force
// and not written, also when that one has written some of it; its followers begin again.
func TestLargeAfterARestart(t *testing.T) {
	endpoint := harness.Etcd(t)
	dir := t.TempDir()
	for name, open := range map[string]func(t *testing.T) datastore.Store{
		"badger": func(t *testing.T) datastore.Store {
			s, err := badger.Open(badger.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"etcd": func(t *testing.T) datastore.Store {
			return openEtcd(t, etcd.Options{Endpoints: []string{endpoint}, Timeout: time.Minute, Prefix: fmt.Sprintf("ctl-restart/%d/", os.Getpid())})
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw := open(t)
			before := commit(t, raw, replace("b", "none", "old", 50)...)
			written := 0
			maker := largeOf(t, stopped{small{engine{raw}, 64}, func(t datastore.Txn) bool {
				if len(t.Ops) > 1 && len(t.Ops) <= 64 && t.Ops[0].Namespace == "big" {
					written++
				}
				return written > 2
			}})
			if _, err := maker.Commit(within(t), datastore.Txn{Ops: replace("a", "b", "new", 400)}); err != nil {
				t.Fatal(err)
			}
			commit(t, raw, datastore.Put("other", "k", nil))
			if err := raw.Close(); err != nil {
				t.Fatal(err)
			}
			raw = open(t)
			if got := contentOf(t, raw); got != "map[anew:400]" {
				t.Fatalf("after the restart: %s", got)
			}
			err := raw.Watch(within(t), before, []datastore.Prefix{{Namespace: "big"}}, func(datastore.Batch) error { return errEnded })
			wantErr(t, err, datastore.ErrCompacted)
			s := largeOf(t, small{engine{raw}, 64})
			commit(t, s, datastore.Put("big", "b/000001", []byte("later")))
			if err := raw.Close(); err != nil {
				t.Fatal(err)
			}
			raw = open(t)
			if got := contentOf(t, raw); got != "map[anew:400 blater:1]" {
				t.Errorf("when it was written and read again: %s", got)
			}
			if err := raw.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
