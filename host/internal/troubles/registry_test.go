package troubles

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// readOnly is a store that takes nothing.
type readOnly struct{ datastore.Store }

func (readOnly) Commit(context.Context, datastore.Txn) (datastore.Revision, error) {
	return 0, errors.New("the disk is full")
}

// The list says what is wrong with the store while the store takes nothing.
func TestListWithoutTheStore(t *testing.T) {
	c := &clock{time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)}
	b := openRegistry(readOnly{storetest.New(storetest.Options{})}, "a", c, "a")
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
	all, err := b.List()
	if err != nil || len(all) != 1 || len(all[0].Cause) > maxText+len(" …") {
		t.Errorf("%d, %v", len(all[0].Cause), err)
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
