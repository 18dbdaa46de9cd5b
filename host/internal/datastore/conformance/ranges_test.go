package conformance

import (
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore"
)

func ranges(t *testing.T, s datastore.Store) {
	for _, k := range []string{"b/2", "b/1", "a", "b", "b/10", "c", "b\xff"} {
		commit(t, s, datastore.Put("n", k, nil))
	}
	for name, c := range map[string]struct {
		o    datastore.RangeOptions
		want string
	}{
		"everything":               {datastore.RangeOptions{}, "a b b/1 b/10 b/2 b\xff c"},
		"a prefix":                 {datastore.RangeOptions{Prefix: "b/"}, "b/1 b/10 b/2"},
		"a prefix that is a key":   {datastore.RangeOptions{Prefix: "b"}, "b b/1 b/10 b/2 b\xff"},
		"no such prefix":           {datastore.RangeOptions{Prefix: "d"}, ""},
		"a limit":                  {datastore.RangeOptions{Limit: 2}, "a b"},
		"the next page":            {datastore.RangeOptions{After: "b", Limit: 2}, "b/1 b/10"},
		"after an absent key":      {datastore.RangeOptions{After: "b/0"}, "b/1 b/10 b/2 b\xff c"},
		"a page inside a prefix":   {datastore.RangeOptions{Prefix: "b/", After: "b/1"}, "b/10 b/2"},
		"after below the prefix":   {datastore.RangeOptions{Prefix: "b/", After: "a"}, "b/1 b/10 b/2"},
		"after the end of prefix":  {datastore.RangeOptions{Prefix: "b/", After: "c"}, ""},
		"after the last key of it": {datastore.RangeOptions{Prefix: "b/", After: "b/2"}, ""},
	} {
		if got := strings.Join(keys(t, s, "n", c.o), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func listNamespaces(t *testing.T, s datastore.Store) {
	list := func() string {
		var out []string
		err := s.View(within(t), func(sn datastore.Snapshot) error {
			for ns, err := range sn.Namespaces() {
				if err != nil {
					return err
				}
				out = append(out, ns)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, " ")
	}
	if got := list(); got != "" {
		t.Errorf("an empty store has %q", got)
	}
	for _, ns := range []string{"plugin/b", "a", "plugin/a", "a\x01b", "ab"} {
		commit(t, s, datastore.Put(ns, "1", nil), datastore.Put(ns, "2", nil))
	}
	if got := list(); got != "a a\x01b ab plugin/a plugin/b" {
		t.Errorf("%q", got)
	}
	commit(t, s, datastore.DeletePrefix("a", ""))
	if got := list(); got != "a\x01b ab plugin/a plugin/b" {
		t.Errorf("after a deletion: %q", got)
	}
}

func rangeBreak(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "a", nil), datastore.Put("n", "b", nil), datastore.Put("n", "c", nil))
	var seen []string
	err := s.View(within(t), func(sn datastore.Snapshot) error {
		for e := range sn.Range("n", datastore.RangeOptions{}) {
			seen = append(seen, e.Key)
			if e.Key == "b" {
				break
			}
		}
		_, err := sn.Get("n", "c") // the snapshot is still usable
		return err
	})
	if err != nil || strings.Join(seen, " ") != "a b" {
		t.Fatalf("saw %q, %v", seen, err)
	}
}

func snapshots(t *testing.T, s datastore.Store) {
	commit(t, s, datastore.Put("n", "k", []byte("old")), datastore.Put("n", "l", []byte("old")))
	err := s.View(within(t), func(sn datastore.Snapshot) error {
		rev := sn.Revision()
		commit(t, s, datastore.Put("n", "k", []byte("new")), datastore.Delete("n", "l"), datastore.Put("n", "m", nil))
		e, err := sn.Get("n", "k")
		if err != nil || string(e.Value) != "old" {
			t.Errorf("the view sees %q, %v", e.Value, err)
		}
		var seen []string
		for e, err := range sn.Range("n", datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			seen = append(seen, e.Key)
		}
		if got := strings.Join(seen, " "); got != "k l" {
			t.Errorf("the view ranges over %q, want k l", got)
		}
		if sn.Revision() != rev || s.Revision() <= rev {
			t.Errorf("view at %d was %d, store at %d", sn.Revision(), rev, s.Revision())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, s, "n", "k", "new")
}
