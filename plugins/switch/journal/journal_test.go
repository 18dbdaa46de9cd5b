package journal

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/plugintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, h *plugintest.Host) *Journal {
	t.Helper()
	j, err := Open(t.Context(), h.Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func begin(t *testing.T, j *Journal, node uint64, what string) *Change {
	t.Helper()
	c, err := j.Begin(t.Context(), Record{Node: node, What: what, Steps: []Step{{What: "s", Assigns: []Assignment{{OID: ".1", Kind: Integer, From: Number(1), To: Number(2)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What was not done is found by the next process, the latest first, once.
func TestLeft(t *testing.T) {
	h := plugintest.NewHost(t)
	j := open(t, h)
	begin(t, j, 7, "first")
	begin(t, j, 7, "second")
	begin(t, j, 8, "finished").Done(t.Context())
	if err := j.Take(t.Context()); err != nil || len(j.Nodes()) != 0 {
		t.Errorf("a process finds its own changes: %v %v", j.Nodes(), err)
	}
	next := open(t, h)
	if err := next.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := next.Unsettled(7)
	if len(left) != 2 || left[0].What != "second" || *left[0].Steps[0].Assigns[0].To != "2" || len(next.Nodes()) != 1 {
		t.Fatalf("%+v", left)
	}
	if err := next.Settle(t.Context(), left[0], Undone, ""); err != nil {
		t.Fatal(err)
	}
	last := open(t, h)
	if err := last.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := last.Unsettled(7); len(got) != 1 || got[0].What != "first" {
		t.Errorf("%+v", got)
	}
	if r := last.Reports(); len(r) != 1 || r[0].What != "second" || r[0].Outcome != Undone {
		t.Errorf("%+v", r)
	}
}

func TestReportsAreBounded(t *testing.T) {
	h := plugintest.NewHost(t)
	j := open(t, h)
	for i := range maxReports + 5 {
		c := begin(t, j, 7, fmt.Sprint(i))
		c.Keep()
		if err := j.Settle(t.Context(), c.r, Whole, ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(open(t, h).Reports()); n != maxReports {
		t.Errorf("%d reports", n)
	}
}

// A store that does not take the record keeps the change from beginning.
func TestNoJournalNoChange(t *testing.T) {
	h := plugintest.NewHost(t)
	j := open(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Begin(ctx, Record{Operation: &Operation{Name: "WriteVlan"}}); err == nil {
		t.Error("a change begins that is not in the journal")
	}
	var none *Journal
	c, err := none.Begin(ctx, Record{})
	c.Keep()
	c.Done(ctx)
	if err != nil || none.Take(ctx) != nil || none.Nodes() != nil || none.Reports() != nil {
		t.Error("no journal at all is not taken for one")
	}
}

// The next process has its turn when the one before has ended.
func TestTurn(t *testing.T) {
	dir := t.TempDir()
	first, release, err := Turn(dir)
	if err != nil {
		t.Fatal(err)
	}
	within(t, first)
	second, end, err := Turn(dir)
	if err != nil {
		t.Fatal(err)
	}
	third, giveUp, err := Turn(dir)
	if err != nil {
		t.Fatal(err)
	}
	giveUp() // while it waits
	select {
	case <-second:
		t.Error("two have their turn")
	case <-third:
		t.Error("one that gave up has its turn")
	default:
	}
	release()
	within(t, second)
	end()
}

func within(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("never its turn")
	}
}
