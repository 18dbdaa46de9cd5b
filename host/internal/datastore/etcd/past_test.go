package etcd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/test/harness"
)

// An older state is restored into the cluster while two controllers run: both read it
// again, refuse what depends on what is lost, and go on; revisions never come again.
func TestAClusterThatWentBack(t *testing.T) {
	t.Parallel()
	member := harness.EtcdCluster(t, 1)[0]
	var mu sync.Mutex
	var said []datastore.Back
	o := Options{Endpoints: []string{member.Client}, Prefix: "ctl/", Back: func(b datastore.Back) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, b)
	}}
	a, b := openAt(t, o), openAt(t, o)
	ctx := context.Background()
	put := func(s *Store, key, value string, conditions ...datastore.Compare) (datastore.Revision, error) {
		return s.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("n", key, []byte(value))}, Compares: conditions})
	}
	kept, err := put(a, "kept", "1")
	if err != nil {
		t.Fatal(err)
	}
	backup := member.Backup()
	lost, err := put(a, "kept", "2")
	if err == nil {
		lost, err = put(b, "lost", "1")
	}
	if err == nil {
		_, err = a.Barrier(ctx) // both know what will be lost
	}
	if err != nil {
		t.Fatal(err)
	}
	followed := make(chan error, 1)
	go func() {
		followed <- a.Watch(ctx, lost, []datastore.Prefix{{Namespace: "n"}}, func(b datastore.Batch) error {
			if len(b.Events) > 0 {
				return errors.New("a change was delivered as if nothing were lost")
			}
			return nil
		})
	}()
	member.Restore(backup)
	member.Start()
	harness.Within(t, "a write is taken", func() bool {
		rev, err := put(b, "new", "1")
		if err == nil && rev <= lost {
			t.Fatalf("revision %d comes again: it was at %d", rev, lost)
		}
		return err == nil
	})
	for name, s := range map[string]*Store{"one": a, "the other": b} {
		harness.Within(t, "it answers", func() bool { _, err := s.Barrier(ctx); return err == nil })
		var got string
		if err := s.View(ctx, func(sn datastore.Snapshot) error { got = dump(t, sn); return nil }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, "kept=1@") || !strings.Contains(got, "new=1@") || strings.Contains(got, "lost") {
			t.Errorf("%s has\n%s", name, got)
		}
		for what, condition := range map[string]datastore.Compare{
			"a revision that is lost":       {Namespace: "n", Key: "kept", Revision: lost},
			"a revision from before":        {Namespace: "n", Key: "kept", Revision: kept},
			"a prefix as it was, now empty": {Namespace: "m", Prefix: true, Revision: lost},
		} {
			_, err := put(s, "kept", "3", condition)
			if !errors.Is(err, datastore.ErrConflict) || !strings.Contains(err.Error(), "set back") {
				t.Errorf("%s: a write on the condition of %s: %v", name, what, err)
			}
		}
	}
	if err := <-followed; !errors.Is(err, datastore.ErrCompacted) {
		t.Errorf("who followed got %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(said) != 2 || max(said[0].From, said[1].From) != lost {
		t.Errorf("each is to notice it once: said %+v; the newest was %d", said, lost)
	}
	e, err := datastore.Get(ctx, a, "n", "kept")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put(b, "kept", "4", datastore.Compare{Namespace: "n", Key: "kept", Revision: e.Revision}); err != nil {
		t.Errorf("a write on what is there now: %v", err)
	}
}

// The cluster goes back and on again beyond where it was before this controller looks.
func TestAClusterThatWentBackAndOn(t *testing.T) {
	t.Parallel()
	member := harness.EtcdCluster(t, 1)[0]
	way := newLink(t, member.Client)
	o := Options{Endpoints: []string{member.Client}, Prefix: "ctl/"}
	ctx := context.Background()
	put := func(s *Store, key string) {
		t.Helper()
		if _, err := s.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("n", key, nil)}}); err != nil {
			t.Fatal(err)
		}
	}
	first := openAt(t, o)
	put(first, "kept")
	backup := member.Backup()
	o.Endpoints = []string{"http://" + way.listener.Addr().String()}
	away := openAt(t, o)
	put(first, "lost")
	if _, err := away.Barrier(ctx); err != nil {
		t.Fatal(err)
	}
	before := away.Revision()
	way.set(true)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	member.Restore(backup)
	member.Start()
	harness.Within(t, "it runs", member.Healthy)
	o.Endpoints = []string{member.Client}
	second := openAt(t, o)
	for _, key := range []string{"a", "b", "c", "d"} {
		put(second, key)
	}
	if second.Revision() <= before {
		t.Fatal("it did not go on beyond")
	}
	way.set(false)
	harness.Within(t, "the controller is back", func() bool { _, err := away.Barrier(ctx); return err == nil && away.Revision() > second.Revision()-5 })
	var got string
	if err := away.View(ctx, func(sn datastore.Snapshot) error { got = dump(t, sn); return nil }); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "lost") || !strings.Contains(got, " a=") || !strings.Contains(got, " d=") {
		t.Errorf("it has\n%s", got)
	}
}
