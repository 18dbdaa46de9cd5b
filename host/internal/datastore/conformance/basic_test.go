package conformance

import (
	"context"
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore"
)

func putGet(t *testing.T, s datastore.Store) {
	before := s.Revision()
	first := commit(t, s, datastore.Put("n", "k", []byte("one")))
	if first <= before {
		t.Fatalf("revision %d after %d", first, before)
	}
	if e := want(t, s, "n", "k", "one"); e.Revision != first {
		t.Fatalf("entry revision %d, want %d", e.Revision, first)
	}
	second := commit(t, s, datastore.Put("n", "k", []byte("two")))
	if e := want(t, s, "n", "k", "two"); second <= first || e.Revision != second {
		t.Fatalf("revisions %d then %d, entry %d", first, second, e.Revision)
	}
	if s.Revision() < second {
		t.Fatalf("store revision %d, want at least %d", s.Revision(), second)
	}
}

func absent(t *testing.T, s datastore.Store) {
	wantAbsent(t, s, "n", "k")
	commit(t, s, datastore.Put("n", "kk", nil))
	wantAbsent(t, s, "n", "k")
}

func copies(t *testing.T, s datastore.Store) {
	v := []byte("value")
	commit(t, s, datastore.Put("n", "k", v))
	v[0] = 'X'
	e := want(t, s, "n", "k", "value")
	e.Value[0] = 'Y'
	want(t, s, "n", "k", "value")
}

func oddKeys(t *testing.T, s datastore.Store) {
	long := strings.Repeat("k", 4000)
	all := []string{"\x00", "\x00\x00", "a/b=c%2F", "日本", "\xff\xff", long}
	for _, k := range all {
		commit(t, s, datastore.Put("n", k, []byte{}))
		if e := want(t, s, "n", k, ""); e.Value == nil {
			t.Fatalf("empty value of %q came back nil", k)
		}
	}
	if got := keys(t, s, "n", datastore.RangeOptions{}); len(got) != len(all) {
		t.Fatalf("range sees %d keys of %d: %q", len(got), len(all), got)
	}
	commit(t, s, datastore.Put("n", "bin", []byte{0, 1, 255, 0}))
	want(t, s, "n", "bin", "\x00\x01\xff\x00")
}

func badNames(t *testing.T, s datastore.Store) {
	ops := map[string]datastore.Op{
		"empty namespace":         datastore.Put("", "k", nil),
		"zero byte in namespace":  datastore.Put("a\x00b", "k", nil),
		"namespace too long":      datastore.Put(strings.Repeat("n", 300), "k", nil),
		"empty key":               datastore.Put("n", "", nil),
		"key too long":            datastore.Put("n", strings.Repeat("k", 70_000), nil),
		"prefix in no namespace":  datastore.DeletePrefix("", "k"),
		"deletion of no key":      datastore.Delete("n", ""),
		"deletion in a bad space": datastore.Delete("a\x00b", "k"),
	}
	for name, op := range ops {
		_, err := s.Commit(within(t), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "good", nil), op}})
		t.Log(name)
		wantErr(t, err, datastore.ErrInvalid)
	}
	wantAbsent(t, s, "n", "good")
	_, err := datastore.Get(within(t), s, "", "k")
	wantErr(t, err, datastore.ErrInvalid)
	err = s.Watch(within(t), 0, []datastore.Prefix{{}}, func(datastore.Batch) error { return nil })
	wantErr(t, err, datastore.ErrInvalid)
}

func namespaces(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("a", "k", []byte("1")), datastore.Put("ab", "k", []byte("2")), datastore.Put("a", "bk", []byte("3")))
	want(t, s, "a", "k", "1")
	want(t, s, "ab", "k", "2")
	if got := strings.Join(keys(t, s, "a", datastore.RangeOptions{}), " "); got != "bk k" {
		t.Fatalf("namespace a holds %q", got)
	}
	commit(t, s, datastore.DeletePrefix("a", ""))
	want(t, s, "ab", "k", "2")
	if got := keys(t, s, "a", datastore.RangeOptions{}); len(got) != 0 {
		t.Fatalf("namespace a still holds %q", got)
	}
}

func deletes(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "k", []byte("v")))
	gone := commit(t, s, datastore.Delete("n", "k"))
	wantAbsent(t, s, "n", "k")
	if again := commit(t, s, datastore.Delete("n", "k")); again != gone {
		t.Fatalf("deleting nothing took revision %d after %d", again, gone)
	}
	commit(t, s, datastore.Put("n", "k", []byte("back")))
	want(t, s, "n", "k", "back")
}

func deletePrefix(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "a", nil), datastore.Put("n", "ab", nil), datastore.Put("n", "ab\xff", nil),
		datastore.Put("n", "ac", nil), datastore.Put("m", "ab", nil))
	commit(t, s, datastore.DeletePrefix("n", "ab"))
	if got := strings.Join(keys(t, s, "n", datastore.RangeOptions{}), " "); got != "a ac" {
		t.Fatalf("left %q, want a ac", got)
	}
	want(t, s, "m", "ab", "")
}

func opOrder(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "p/old", nil))
	commit(t, s,
		datastore.Put("n", "p/lost", nil), datastore.DeletePrefix("n", "p/"), datastore.Put("n", "p/new", []byte("1")),
		datastore.Put("n", "twice", []byte("1")), datastore.Put("n", "twice", []byte("2")),
		datastore.Put("n", "undone", nil), datastore.Delete("n", "undone"))
	if got := strings.Join(keys(t, s, "n", datastore.RangeOptions{}), " "); got != "p/new twice" {
		t.Fatalf("left %q, want p/new twice", got)
	}
	want(t, s, "n", "twice", "2")
}

func viewError(t *testing.T, s datastore.Store) {
	err := s.View(within(t), func(datastore.Snapshot) error { return context.Canceled })
	wantErr(t, err, context.Canceled)
}
