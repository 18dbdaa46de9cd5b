package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/host/internal/datastore"
)

var errEnough = errors.New("the test has seen enough")

// line writes a batch so that a test can compare it.
func line(b datastore.Batch) string {
	var out []string
	for _, e := range b.Events {
		if e.Deleted {
			out = append(out, "-"+e.Key)
		} else {
			out = append(out, "+"+e.Key+"="+string(e.Value))
		}
	}
	return strings.Join(out, " ")
}

// collect watches until n batches came.
func collect(t *testing.T, s datastore.Store, ns, prefix string, after datastore.Revision, n int) (lines []string, last datastore.Revision) {
	t.Helper()
	err := s.Watch(within(t), after, []datastore.Prefix{{Namespace: ns, Key: prefix}}, func(b datastore.Batch) error {
		if len(b.Events) == 0 {
			return nil
		}
		if b.Revision <= last || b.Revision <= after {
			t.Errorf("batch %d came after %d", b.Revision, last)
		}
		for _, e := range b.Events {
			if e.Namespace != ns || e.Revision != b.Revision {
				t.Errorf("event %s/%s of revision %d in batch %d", e.Namespace, e.Key, e.Revision, b.Revision)
			}
		}
		last = b.Revision
		lines = append(lines, line(b))
		if len(lines) == n {
			return errEnough
		}
		return nil
	})
	wantErr(t, err, errEnough)
	return lines, last
}

func watchResume(t *testing.T, s datastore.Store) {
	start := commit(t, s, datastore.Put("n", "before", nil))
	commit(t, s, datastore.Put("n", "a", []byte("1")), datastore.Put("n", "b", []byte("1")))
	commit(t, s, datastore.Put("n", "a", []byte("2")))
	commit(t, s, datastore.DeletePrefix("n", ""))
	got, _ := collect(t, s, "n", "", start, 3)
	wantLines := []string{"+a=1 +b=1", "+a=2", "-a -b -before"}
	if diff := cmp.Diff(wantLines, got); diff != "" {
		t.Fatal(diff)
	}
	// In two pieces, with writes going on meanwhile, nothing is lost or repeated.
	const n = 200
	ctx, errs := within(t), make(chan error, 1)
	begin := s.Revision()
	go func() {
		for i := range n {
			if _, err := s.Commit(ctx, datastore.Txn{Volatile: true, Ops: []datastore.Op{datastore.Put("n", fmt.Sprint(i), nil)}}); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}()
	first, last := collect(t, s, "n", "", begin, n/2)
	second, _ := collect(t, s, "n", "", last, n/2)
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	for i, l := range append(first, second...) {
		if l != fmt.Sprintf("+%d=", i) {
			t.Fatalf("batch %d is %q", i, l)
		}
	}
}

func watchFilter(t *testing.T, s datastore.Store) {
	start := commit(t, s, datastore.Put("n", "x", nil))
	commit(t, s, datastore.Put("n", "other", nil))
	commit(t, s, datastore.Put("m", "p/a", nil))
	commit(t, s, datastore.Put("n", "p/a", []byte("1")), datastore.Put("n", "q", nil), datastore.Put("m", "p/b", nil))
	commit(t, s, datastore.Delete("n", "p/none"), datastore.Put("n", "q", nil))
	commit(t, s, datastore.Delete("n", "p/a"))
	got, _ := collect(t, s, "n", "p/", start, 2)
	if diff := cmp.Diff([]string{"+p/a=1", "-p/a"}, got); diff != "" {
		t.Fatal(diff)
	}
}

func watchNow(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "old", nil))
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	var first string
	ended := make(chan error, 1)
	go func() {
		ended <- s.Watch(ctx, s.Revision(), []datastore.Prefix{{Namespace: "n"}}, func(b datastore.Batch) error {
			if len(b.Events) == 0 {
				return nil
			}
			first = line(b)
			return errEnough
		})
	}()
	// The watch begins at a moment of its own, so write until it has seen one.
	for i := 0; ; i++ {
		commit(t, s, datastore.Put("n", "new", []byte(fmt.Sprint(i))))
		select {
		case err := <-ended:
			wantErr(t, err, errEnough)
			if !strings.HasPrefix(first, "+new=") {
				t.Fatalf("the first event is %q", first)
			}
			return
		default:
		}
	}
}

func watchCompacted(t *testing.T, s datastore.Store) {
	start := commit(t, s, datastore.Put("n", "k", nil))
	var revs []datastore.Revision
	for i := range 20 {
		revs = append(revs, commit(t, s, datastore.Put("n", "k", []byte(fmt.Sprint(i)))))
	}
	err := s.Watch(within(t), start, []datastore.Prefix{{Namespace: "n"}}, func(b datastore.Batch) error {
		t.Errorf("got %q though revisions are missing before it", line(b))
		return errEnough
	})
	wantErr(t, err, datastore.ErrCompacted)
	got, _ := collect(t, s, "n", "", revs[15], 4)
	if diff := cmp.Diff([]string{"+k=16", "+k=17", "+k=18", "+k=19"}, got); diff != "" {
		t.Fatal(diff)
	}
}

func watchEnds(t *testing.T, s datastore.Store) {
	start := s.Revision()
	commit(t, s, datastore.Put("n", "k", nil))
	if start == 0 {
		start = s.Revision()
		commit(t, s, datastore.Put("n", "k", nil))
	}
	collect(t, s, "n", "", start, 1) // the caller's error comes back
	ctx, cancel := context.WithCancel(within(t))
	err := s.Watch(ctx, start, []datastore.Prefix{{Namespace: "n"}}, func(datastore.Batch) error { cancel(); return nil })
	wantErr(t, err, context.Canceled)
}

func closed(t *testing.T, s datastore.Store) {
	rev := commit(t, s, datastore.Put("n", "k", nil))
	rev2 := commit(t, s, datastore.Put("n", "k", nil))
	running, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.Watch(within(t), rev, []datastore.Prefix{{Namespace: "n"}}, func(datastore.Batch) error { close(running); return nil })
	}()
	<-running
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	wantErr(t, <-ended, datastore.ErrClosed)
	_, err := s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", nil)}})
	wantErr(t, err, datastore.ErrClosed)
	wantErr(t, s.View(within(t), func(datastore.Snapshot) error { return nil }), datastore.ErrClosed)
	wantErr(t, s.Watch(within(t), rev2, []datastore.Prefix{{Namespace: "n"}}, func(datastore.Batch) error { return nil }), datastore.ErrClosed)
}

func endedContext(t *testing.T, s datastore.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", nil)}})
	wantErr(t, err, context.Canceled)
	wantErr(t, s.View(ctx, func(datastore.Snapshot) error { return nil }), context.Canceled)
	wantErr(t, s.Watch(ctx, 0, []datastore.Prefix{{Namespace: "n"}}, func(datastore.Batch) error { return nil }), context.Canceled)
	wantAbsent(t, s, "n", "k")
}
