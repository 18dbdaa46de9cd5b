package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/host/internal/datastore"
)

func progress(t *testing.T, s datastore.Store) {
	start := commit(t, s, datastore.Put("n", "x", nil))
	last := commit(t, s, datastore.Put("other", "y", nil))
	prefixes := []datastore.Prefix{{Namespace: "n", Key: "p/"}, {Namespace: "m"}}
	var lines []string
	var at datastore.Revision
	err := s.Watch(within(t), start, prefixes, func(b datastore.Batch) error {
		if b.Revision < at {
			t.Errorf("revision %d after %d", b.Revision, at)
		}
		at = b.Revision
		if len(b.Events) > 0 {
			lines = append(lines, line(b))
			return nil
		}
		if at < last {
			return nil
		}
		if len(lines) == 2 {
			return errEnough
		}
		if len(lines) == 0 { // nothing of ours so far, and yet we know how far that holds
			_, err := s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{datastore.Put("m", "a", nil)}})
			if err != nil {
				return err
			}
			_, err = s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "p/b", nil), datastore.Put("n", "q", nil)}})
			if err != nil {
				return err
			}
			last, err = s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "q", nil)}})
			return err
		}
		return nil
	})
	wantErr(t, err, errEnough)
	if diff := cmp.Diff([]string{"+a=", "+p/b="}, lines); diff != "" {
		t.Error(diff)
	}
}

func prefixCompares(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "p/a", nil), datastore.Put("n", "p/b", nil))
	at := commit(t, s, datastore.Put("n", "p/b", []byte("2")))
	try := func(rev datastore.Revision, ns, prefix string) error {
		_, err := s.Commit(within(t), datastore.Txn{Compares: []datastore.Compare{{Namespace: ns, Key: prefix, Revision: rev, Prefix: true}},
			Ops: []datastore.Op{datastore.Put("out", "x", nil)}})
		return err
	}
	for _, c := range []struct {
		rev        datastore.Revision
		ns, prefix string
		conflict   string
	}{
		{at, "n", "p/", ""}, {at - 1, "n", "p/", "p/b"}, {at - 1, "n", "p/a", ""}, {0, "n", "p/", "p/"}, {0, "n", "none", ""}, {0, "nn", "", ""},
		{at, "n", "", ""}, {at - 1, "n", "", "p/b"},
	} {
		err := try(c.rev, c.ns, c.prefix)
		var conflict *datastore.ConflictError
		switch {
		case c.conflict == "" && err != nil:
			t.Errorf("%s/%s at %d: %v", c.ns, c.prefix, c.rev, err)
		case c.conflict != "" && (!errors.As(err, &conflict) || !strings.HasPrefix(conflict.Key, c.conflict) || conflict.Revision <= c.rev):
			t.Errorf("%s/%s at %d: %v, want a conflict over %s", c.ns, c.prefix, c.rev, err, c.conflict)
		}
	}
	commit(t, s, datastore.Delete("n", "p/a"))
	if err := try(at, "n", "p/"); err != nil {
		t.Errorf("a deletion breaks a compare of a prefix: %v", err)
	}
	commit(t, s, datastore.Put("n", "p/c", nil))
	wantErr(t, try(at, "n", "p/"), datastore.ErrConflict)
}

func conflictsNameTheWriter(t *testing.T, s datastore.Store) {
	by := func(name string, ops ...datastore.Op) datastore.Revision {
		t.Helper()
		rev, err := s.Commit(within(t), datastore.Txn{By: name, Ops: ops})
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	first := by("admin", datastore.Put("n", "k", []byte("1")), datastore.Put("n", "gone", nil))
	second := by("plugin switch", datastore.Put("n", "k", []byte("2")))
	by("operator", datastore.Delete("n", "gone"))
	for _, c := range []struct {
		key  string
		have datastore.Revision
		by   string
	}{{"k", second, "plugin switch"}, {"gone", 0, "operator"}} {
		_, err := s.Commit(within(t), datastore.Txn{By: "late", Ops: []datastore.Op{datastore.Put("n", "k", nil)}, Compares: []datastore.Compare{
			{Namespace: "n", Key: "none"}, {Namespace: "n", Key: c.key, Revision: first}}})
		var conflict *datastore.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, datastore.ErrConflict) {
			t.Fatalf("%v, want a conflict", err)
		}
		if conflict.Index != 1 || conflict.Namespace != "n" || conflict.Key != c.key || conflict.Revision != c.have || conflict.By != c.by || time.Since(conflict.At) > time.Minute {
			t.Errorf("%+v, want %+v", conflict, c)
		}
	}
	want(t, s, "n", "k", "2")
	err := s.Watch(within(t), first, []datastore.Prefix{{Namespace: "n"}}, func(b datastore.Batch) error {
		if b.By != "plugin switch" || time.Since(b.At) > time.Minute {
			t.Errorf("the watch says %q at %v", b.By, b.At)
		}
		return errEnough
	})
	wantErr(t, err, errEnough)
}

func barrier(t *testing.T, s datastore.Store) {
	for range 20 {
		rev := commit(t, s, datastore.Put("n", "k", nil))
		if got := s.Revision(); got < rev {
			t.Fatalf("the projection is at %d after commit %d", got, rev)
		}
		got, err := s.Barrier(within(t))
		if err != nil || got < rev {
			t.Fatalf("barrier %d after commit %d: %v", got, rev, err)
		}
		age, err := s.Local(func(sn datastore.Snapshot) error {
			if sn.Revision() < rev {
				t.Errorf("local reads are at %d after a barrier of %d", sn.Revision(), rev)
			}
			return nil
		})
		if err != nil || age < 0 {
			t.Fatalf("local: %v, age %v", err, age)
		}
	}
}

// equal is a follower that keeps a copy of a namespace.
type equal struct {
	at     datastore.Revision
	have   map[string]string
	resets int
}

func (f *equal) Reset(sn datastore.Snapshot) error {
	f.at, f.have = sn.Revision(), map[string]string{}
	f.resets++
	for e, err := range sn.Range("n", datastore.RangeOptions{}) {
		if err != nil {
			return err
		}
		f.have[e.Key] = string(e.Value)
	}
	return nil
}

func (f *equal) Apply(b datastore.Batch) error {
	for _, e := range b.Events {
		if e.Revision <= f.at && b.Revision <= f.at {
			return errors.New("an old change came again")
		}
		if e.Deleted {
			delete(f.have, e.Key)
		} else {
			f.have[e.Key] = string(e.Value)
		}
	}
	f.at = b.Revision
	return nil
}

// A follower with a history of four transactions is too slow and begins again: it is
// equal to a range at its revision in the end, deletions included.
func rebuilds(t *testing.T, s datastore.Store) {
	f := &equal{}
	ctx, cancel := context.WithCancel(within(t))
	last := commit(t, s, datastore.Put("n", "first", nil))
	stop := errors.New("stop")
	round := 0
	err := datastore.Follow(ctx, s, []datastore.Prefix{{Namespace: "n"}}, hook{f, func(b datastore.Batch) error {
		if b.Revision < last {
			return nil
		}
		if round++; round > 5 {
			cancel()
			return stop
		}
		for i := range 12 { // more than is kept, before the next batch is taken
			key := string(rune('a' + (round*5+i)%9))
			last = commit(t, s, datastore.Put("n", key, []byte{byte('0' + round)}))
			last = commit(t, s, datastore.Delete("n", string(rune('a'+(round+i)%9))), datastore.Put("n", "last", []byte{byte('0' + i)}))
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if f.resets < 3 {
		t.Errorf("it began again %d times only", f.resets)
	}
	now := map[string]string{}
	if err := s.View(within(t), func(sn datastore.Snapshot) error {
		for e, err := range sn.Range("n", datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			now[e.Key] = string(e.Value)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(now, f.have); diff != "" {
		t.Error(diff)
	}
}

type hook struct {
	datastore.Follower
	after func(datastore.Batch) error
}

func (h hook) Reset(sn datastore.Snapshot) error {
	if err := h.Follower.Reset(sn); err != nil {
		return err
	}
	return h.after(datastore.Batch{Revision: sn.Revision()})
}

func (h hook) Apply(b datastore.Batch) error {
	if err := h.Follower.Apply(b); err != nil {
		return err
	}
	return h.after(b)
}

func leases(t *testing.T, s datastore.Store) {
	l, ok := s.(datastore.Leases)
	if !ok {
		_, err := s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{{Namespace: "lease", Key: "role/x", Lease: 7}}})
		wantErr(t, err, datastore.ErrInvalid)
		return
	}
	long, err := l.Grant(within(t), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	short, err := l.Grant(within(t), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	epoch := commit(t, s, datastore.Op{Namespace: "lease", Key: "role/long", Lease: long}, datastore.Op{Namespace: "lease", Key: "role/short", Lease: short})
	if ttl, err := l.Renew(within(t), long); err != nil || ttl < 10*time.Second || ttl > time.Minute {
		t.Errorf("renewed for %v, %v", ttl, err)
	}
	gone := func(key string) {
		t.Helper()
		err := s.Watch(within(t), epoch, []datastore.Prefix{{Namespace: "lease", Key: key}}, func(b datastore.Batch) error {
			if len(b.Events) == 1 && b.Events[0].Deleted {
				return errEnough
			}
			return nil
		})
		wantErr(t, err, errEnough)
		wantAbsent(t, s, "lease", key)
	}
	gone("role/short") // by itself
	if _, err := l.Renew(within(t), short); err == nil {
		t.Error("a lease that has ended was renewed")
	}
	want(t, s, "lease", "role/long", "")
	if err := l.Revoke(within(t), long); err != nil {
		t.Fatal(err)
	}
	gone("role/long")
	if err := l.Revoke(within(t), long); err != nil {
		t.Errorf("revoked again: %v", err)
	}
	// A holder whose lease has ended cannot write under its epoch.
	_, err = s.Commit(within(t), datastore.Txn{Compares: []datastore.Compare{{Namespace: "lease", Key: "role/long", Revision: epoch}}, Ops: []datastore.Op{datastore.Put("n", "k", nil)}})
	wantErr(t, err, datastore.ErrConflict)
	_, err = s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{{Namespace: "lease", Key: "role/late", Lease: short}}})
	if err == nil {
		t.Error("a key was put under a lease that has ended")
	}
	wantAbsent(t, s, "lease", "role/late")
}
