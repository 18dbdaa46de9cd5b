package troubles

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

// clock is a time that the test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func openRegistry(store datastore.Store, node string, c *clock, living ...string) *Registry {
	return New(Options{
		Store: store,
		Node:  node,
		Now:   c.now,
		Living: func(n string) bool {
			for _, l := range living {
				if l == n {
					return true
				}
			}
			return false
		},
	})
}

// listed writes the list in short: kind resource state, one a line.
func listed(t *testing.T, b *Registry) string {
	t.Helper()
	all, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		state := "open"
		switch {
		case e.Silenced != nil:
			state = "silenced"
		case e.Acknowledged != nil:
			state = "acknowledged"
		}
		out = append(out, fmt.Sprintf("%s %s %s %s", e.Since.Format("15:04"), e.Kind, e.Resource, state))
	}
	return strings.Join(out, "\n")
}

func report(t *testing.T, b *Registry, reporter string, resources ...string) {
	t.Helper()
	var all []Trouble
	for _, r := range resources {
		all = append(all, Trouble{Kind: "plugin", Resource: r, Cause: "it is stopped"})
	}
	if err := b.Report(t.Context(), reporter, all); err != nil {
		t.Fatal(err)
	}
}

func idOfOnly(t *testing.T, b *Registry) string {
	t.Helper()
	all, err := b.List()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0].ID
}

// A trouble keeps its time while it lasts, over restarts, too, and gets a new one when it comes again.
func TestTroublesKeepTheirTime(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b := openRegistry(store, "a", c, "a")
	report(t, b, "controller", "plugin x")
	c.t = c.t.Add(time.Hour)
	report(t, b, "controller", "plugin x", "plugin y")
	want := "11:00 plugin plugin y open\n10:00 plugin plugin x open"
	if got := listed(t, b); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	again := openRegistry(store, "a", c, "a")
	c.t = c.t.Add(time.Hour)
	report(t, again, "controller", "plugin x")
	if got := listed(t, again); got != "10:00 plugin plugin x open" {
		t.Errorf("after a restart: %s", got)
	}
	report(t, again, "controller")
	report(t, again, "controller", "plugin x")
	if got := listed(t, again); got != "12:00 plugin plugin x open" {
		t.Errorf("when it came again: %s", got)
	}
}

// What a node reported is not shown after its end; what holds for all nodes is.
func TestOfNodesThatAreGone(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	a, b := openRegistry(store, "a", c, "a"), openRegistry(store, "b", c, "a")
	report(t, b, "controller", "plugin x")
	if err := b.Share(t.Context(), "topologies", []Trouble{{Kind: "link-lost", Resource: "/t"}}); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, a); got != "10:00 link-lost /t open" {
		t.Errorf("%s", got)
	}
	if shared, err := a.Shared("topologies"); err != nil || len(shared) != 1 || shared[0].Kind != "link-lost" {
		t.Errorf("%v, %v", shared, err)
	}
}

// hooked is a store that asks before each commit.
type hooked struct {
	datastore.Store
	before func() error
}

func (h *hooked) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := h.before(); err != nil {
		return 0, err
	}
	return h.Store.Commit(ctx, t)
}

var errFull = errors.New("the disk is full")

// The list says what is wrong with the store while the store takes nothing.
func TestListWithoutTheStore(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	full := &hooked{storetest.New(storetest.Options{}), func() error { return errFull }}
	b := openRegistry(full, "a", c, "a")
	all := []Trouble{{Kind: "disk", Resource: "disk", Cause: "full"}}
	if err := b.Report(t.Context(), "controller", all); err == nil {
		t.Error("it is not said that the list was not stored")
	}
	c.t = c.t.Add(time.Hour)
	_ = b.Report(t.Context(), "controller", all)
	if got := listed(t, b); got != "10:00 disk disk open" {
		t.Errorf("%s", got)
	}
}

// What is wrong is listed while the store hangs, of every reporter.
func TestListWhileTheStoreHangs(t *testing.T) {
	began, goOn := make(chan struct{}, 2), make(chan struct{})
	hangs := &hooked{storetest.New(storetest.Options{}), func() error {
		began <- struct{}{}
		<-goOn
		return errFull
	}}
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b := openRegistry(hangs, "a", c, "a")
	var work sync.WaitGroup
	defer work.Wait()
	defer close(goOn)
	within := func(what string, done <-chan struct{}) {
		t.Helper()
		select {
		case <-done:
		case <-time.After(time.Minute): // it waits for the store
			t.Fatal(what, "waits for the store")
		}
	}
	for _, reporter := range []string{"controller", "plugin p"} {
		work.Go(func() {
			_ = b.Report(context.Background(), reporter, []Trouble{{Kind: "k", Resource: reporter}})
		})
		within("the list of "+reporter, began)
	}
	answered := make(chan struct{})
	work.Go(func() {
		defer close(answered)
		if err := b.Maintain(context.Background(), func(string) bool { return true }); err != nil {
			t.Error(err)
		}
		if all, err := b.List(); err != nil || len(all) != 2 {
			t.Errorf("%v, %v", all, err)
		}
	})
	within("the whole list", answered)
}

// A list that the store did not take is stored later, without its reporter.
func TestStoredLater(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	fails := errFull
	store := &hooked{storetest.New(storetest.Options{}), func() error { return fails }}
	a, other := openRegistry(store, "a", c, "a", "b"), openRegistry(store, "b", c, "a", "b")
	none := func(string) bool { return false }
	if err := a.Report(t.Context(), "plugin p", []Trouble{{Kind: "k", Resource: "r"}}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := a.Maintain(t.Context(), none); !errors.Is(err, errFull) || listed(t, other) != "" {
		t.Errorf("while the disk is full: %v", err)
	}
	fails = nil
	if err := a.Maintain(t.Context(), none); err != nil {
		t.Error(err)
	}
	if got := listed(t, other); got != "10:00 k r open" {
		t.Errorf("on the other node: %q", got)
	}
	store.before = func() error { t.Error("what is stored is stored again"); return nil }
	if err := a.Maintain(t.Context(), none); err != nil {
		t.Error(err)
	}
}

// A list of a process before this one ends on all nodes when its reporter is over, not before.
func TestListsOfTheProcessBefore(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	report(t, openRegistry(store, "a", c, "a", "b"), "plugin p", "router r1")
	a, other := openRegistry(store, "a", c, "a", "b"), openRegistry(store, "b", c, "a", "b")
	if err := a.Load(); err != nil {
		t.Fatal(err)
	}
	report(t, a, "controller")
	for _, over := range []bool{false, true} {
		if err := a.Maintain(t.Context(), func(r string) bool { return over && r == "plugin p" }); err != nil {
			t.Fatal(err)
		}
		want := "10:00 plugin router r1 open"
		if over {
			want = ""
		}
		for node, r := range map[string]*Registry{"this": a, "the other": other} {
			if got := listed(t, r); got != want {
				t.Errorf("over is %v, on %s node: %q, want %q", over, node, got, want)
			}
		}
	}
}

// A plugin may report before the lists of the process before are loaded.
func TestReportBeforeLoad(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	store := &hooked{storetest.New(storetest.Options{}), func() error { return nil }}
	report(t, openRegistry(store, "a", c, "a"), "plugin p", "router r1")
	store.before = func() error { return errFull }
	a := openRegistry(store, "a", c, "a")
	if err := a.Report(t.Context(), "plugin p", []Trouble{{Kind: "plugin", Resource: "router r2"}}); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	if err := a.Load(); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, a); got != "10:00 plugin router r2 open" {
		t.Errorf("%q", got)
	}
}

// What a new process reports while the list of the one before ends stays.
func TestReportWhileListsEnd(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	store := &hooked{storetest.New(storetest.Options{}), func() error { return nil }}
	b := openRegistry(store, "a", c, "a")
	report(t, b, "plugin p", "r1")
	report(t, b, "plugin q", "r2")
	store.before = func() error { // of the end of p
		store.before = func() error { return nil }
		report(t, b, "plugin q", "r3")
		return nil
	}
	if err := b.Maintain(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, b); got != "10:00 plugin r3 open" {
		t.Errorf("%q", got)
	}
}

// What passes by itself is not listed, but keeps what is there already, with its marks.
func TestPassing(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b := openRegistry(store, "a", c, "a")
	send := func(passing bool) {
		t.Helper()
		one := Trouble{Kind: "plugin", Resource: "plugin x", Passing: passing}
		if err := b.Report(t.Context(), "controller", []Trouble{one}); err != nil {
			t.Fatal(err)
		}
	}
	send(true)
	if got := listed(t, b); got != "" {
		t.Errorf("it starts: %q", got)
	}
	send(false)
	if err := b.Acknowledge(t.Context(), idOfOnly(t, b), &Mark{By: "admin@sdn"}); err != nil {
		t.Fatal(err)
	}
	for _, passing := range []bool{true, false} {
		send(passing)
		if got := listed(t, b); got != "10:00 plugin plugin x acknowledged" {
			t.Errorf("passing is %v: %q", passing, got)
		}
	}
}

// A list is bounded, in its number and its texts.
func TestBounds(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b := openRegistry(storetest.New(storetest.Options{}), "a", c, "a")
	if err := b.Report(t.Context(), "x", make([]Trouble, maxTroubles+1)); fault.KindOf(err) != fault.TooBig {
		t.Errorf("too many: %v", err)
	}
	long := []Trouble{{Kind: "k", Resource: "r", Cause: strings.Repeat("ä", maxText)}}
	if err := b.Report(t.Context(), "x", long); err != nil {
		t.Fatal(err)
	}
	note := &Mark{By: "admin@sdn", Note: strings.Repeat("ä", maxText)}
	if err := b.Acknowledge(t.Context(), idOfOnly(t, b), note); err != nil {
		t.Fatal(err)
	}
	all, err := b.List()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	for what, text := range map[string]string{"cause": all[0].Cause, "note": all[0].Acknowledged.Note} {
		if len(text) > maxText+len(" …") {
			t.Errorf("a %s of %d bytes", what, len(text))
		}
	}
}

// A change on another node is made known.
func TestChanged(t *testing.T) {
	store, c := storetest.New(storetest.Options{}), &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	a, b := openRegistry(store, "a", c, "a", "b"), openRegistry(store, "b", c, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	first := a.Changed()
	go func() { done <- a.Run(ctx) }()
	<-first // the watch begins with one
	changed := a.Changed()
	report(t, b, "controller", "plugin x")
	for listed(t, a) == "" {
		<-changed
		changed = a.Changed()
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
