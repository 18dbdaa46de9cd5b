package troubles

import (
	"context"
	"errors"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

// An acknowledgement ends with its trouble, a silence with its time; both are known on all nodes.
func TestMarks(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	a, b := openRegistry(store, "a", c, "a", "b"), openRegistry(store, "b", c, "a", "b")
	report(t, a, "controller", "plugin x")
	id := idOfOnly(t, b)
	mark := &Mark{By: "admin@sdn", At: c.t, Note: "known"}
	if err := b.Acknowledge(t.Context(), id, mark); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, a); got != "10:00 plugin plugin x acknowledged" {
		t.Errorf("acknowledged on another node: %s", got)
	}
	report(t, a, "controller")
	report(t, a, "controller", "plugin x")
	if got := listed(t, a); got != "10:00 plugin plugin x open" {
		t.Errorf("a trouble that came again: %s", got)
	}
	if err := a.Silence(t.Context(), id, mark, c.t.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	report(t, a, "controller")
	report(t, a, "controller", "plugin x")
	if got := listed(t, b); got != "10:00 plugin plugin x silenced" {
		t.Errorf("a silenced trouble that came again: %s", got)
	}
	c.t = c.t.Add(2 * time.Hour)
	if got := listed(t, b); got != "10:00 plugin plugin x open" {
		t.Errorf("after the time of the silence: %s", got)
	}
	if err := a.Acknowledge(t.Context(), "none", mark); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown trouble: %v", err)
	}
}

// between is a store where something happens after the next read.
type between struct {
	datastore.Store
	after func()
}

func (b *between) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	err := b.Store.View(ctx, f)
	if happens := b.after; happens != nil {
		b.after = nil
		happens()
	}
	return err
}

// Two people who mark one trouble at a time are both heard, and a mark does not stay when its trouble ends meanwhile.
func TestMarksOfOthersMeanwhile(t *testing.T) {
	store, c := &between{Store: storetest.New(storetest.Options{})}, &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b, mark := openRegistry(store, "a", c, "a"), &Mark{By: "admin@sdn"}
	report(t, b, "controller", "plugin x")
	id := idOfOnly(t, b)
	store.after = func() {
		if err := b.Silence(t.Context(), id, mark, c.t.Add(time.Hour)); err != nil {
			t.Error(err)
		}
	}
	if err := b.Acknowledge(t.Context(), id, mark); err != nil {
		t.Fatal(err)
	}
	if all, err := b.List(); err != nil || all[0].Silenced == nil || all[0].Acknowledged == nil {
		t.Errorf("%+v, %v", all, err)
	}
	if err := errors.Join(b.Silence(t.Context(), id, nil, time.Time{}), b.Acknowledge(t.Context(), id, nil)); err != nil {
		t.Fatal(err)
	}
	store.after = func() { report(t, b, "controller") }
	if err := b.Acknowledge(t.Context(), id, mark); fault.KindOf(err) != fault.NotFound {
		t.Errorf("it has ended meanwhile: %v", err)
	}
	report(t, b, "controller", "plugin x")
	if got := listed(t, b); got != "10:00 plugin plugin x open" {
		t.Errorf("it came again: %s", got)
	}
}

// A mark that is made while its trouble ends goes with it.
func TestMarkedWhileItEnds(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	store := &hooked{storetest.New(storetest.Options{}), func() error { return nil }}
	b := openRegistry(store, "a", c, "a")
	report(t, b, "controller", "plugin x")
	id := idOfOnly(t, b)
	other := openRegistry(store.Store, "b", c, "a", "b")
	store.before = func() error {
		store.before = func() error { return nil }
		return other.Acknowledge(t.Context(), id, &Mark{By: "admin@sdn"})
	}
	report(t, b, "controller")
	report(t, b, "controller", "plugin x")
	if got := listed(t, b); got != "10:00 plugin plugin x open" {
		t.Errorf("%s", got)
	}
}

// A mark without a trouble is deleted when its silence is over, one of a trouble that is there is not.
func TestOldMarks(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b := openRegistry(store, "a", c, "a")
	report(t, b, "controller", "plugin x", "plugin y")
	all, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if err := b.Silence(t.Context(), e.ID, &Mark{By: "admin@sdn"}, c.t.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	report(t, b, "controller", "plugin x")
	for _, want := range []int{2, 1} {
		if err := b.Maintain(t.Context(), func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		if n := countMarks(t, store); n != want {
			t.Errorf("at %s there are %d marks, want %d", c.t.Format("15:04"), n, want)
		}
		c.t = c.t.Add(2 * time.Hour)
	}
}

func countMarks(t *testing.T, store datastore.Store) (n int) {
	t.Helper()
	if _, err := store.Local(func(sn datastore.Snapshot) error {
		for _, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: markKeys}) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}
