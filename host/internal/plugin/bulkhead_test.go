package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ctl.internal/sdk/caller"
)

// waits puts a call into the queue and reports when it has a place, or none.
func waits(t *testing.T, b *bulkhead, who string) chan *place {
	out := make(chan *place, 1)
	_, before := b.countCalls()
	go func() { out <- b.takePlace(t.Context(), who, true, time.Hour) }()
	for {
		if _, n := b.countCalls(); n != before {
			return out
		}
		select {
		case p := <-out: // refused at once
			out <- p
			return out
		default:
		}
	}
}

func TestBulkheadLetsCallersTakeTurns(t *testing.T) {
	b := newBulkheads(100).addBulkhead(2)
	ctx := t.Context()
	first, second := b.takePlace(ctx, "greedy", true, time.Hour), b.takePlace(ctx, "greedy", true, time.Hour)
	var greedy []chan *place
	for range 3 {
		greedy = append(greedy, waits(t, b, "greedy"))
	}
	modest := waits(t, b, "modest")
	b.releasePlace(first)
	third := <-modest // before those of greedy that came earlier, who has a call running already
	if third == nil {
		t.Fatal("refused")
	}
	b.releasePlace(second)
	b.releasePlace(third)
	for _, g := range greedy[:2] {
		if <-g == nil {
			t.Fatal("refused")
		}
	}
	if running, waiting := b.countCalls(); running != 2 || waiting != 1 {
		t.Errorf("%d run, %d wait", running, waiting)
	}
}

func TestBulkheadShedsTheNewestOfWhoHasMost(t *testing.T) {
	b := newBulkheads(100).addBulkhead(1)
	b.takePlace(t.Context(), "greedy", true, time.Hour)
	var greedy []chan *place
	for range queueFactor {
		greedy = append(greedy, waits(t, b, "greedy"))
	}
	if p := <-waits(t, b, "greedy"); p != nil {
		t.Error("the queue is longer than its bound")
	}
	modest := make(chan *place, 1)
	go func() { modest <- b.takePlace(t.Context(), "modest", true, time.Hour) }()
	if p := <-greedy[queueFactor-1]; p != nil {
		t.Error("the newest of who has most got a place")
	}
	if _, n := b.countCalls(); n > queueFactor {
		t.Errorf("%d wait", n)
	}
}

func TestBulkheadOfAllKeepsRoomForOthers(t *testing.T) {
	all := newBulkheads(8)
	hung, good := all.addBulkhead(4), all.addBulkhead(4)
	ctx := t.Context()
	for range 4 {
		hung.takePlace(ctx, "x", true, time.Hour)
	}
	var queue []chan *place
	for range 4 {
		queue = append(queue, waits(t, hung, "x"))
	}
	if p := hung.takePlace(ctx, "x", true, 0); p != nil {
		t.Error("more than all")
	}
	for i := range 4 { // each takes the place of one that waits for the other plugin
		if p := good.takePlace(ctx, "y", true, 0); p == nil {
			t.Fatalf("call %d to a plugin that answers is refused", i)
		}
	}
	for _, q := range queue {
		if <-q != nil {
			t.Error("got a place")
		}
	}
}

func TestBulkheadDoesNotQueueForWhoDoesNotAnswer(t *testing.T) {
	b := newBulkheads(100).addBulkhead(4)
	for range 4 {
		b.takePlace(t.Context(), "x", true, time.Hour).since = time.Now().Add(-time.Minute)
	}
	calls, since := b.stuckCalls(time.Now())
	if calls != 4 || since < time.Minute {
		t.Errorf("%d calls without an answer since %v", calls, since)
	}
	b.probed = time.Now().Add(-time.Hour)
	probe := b.takePlace(t.Context(), "x", true, time.Hour)
	if probe == nil {
		t.Fatal("none may try")
	}
	b.probed = time.Now().Add(time.Hour)
	if p := b.takePlace(t.Context(), "x", true, time.Hour); p != nil {
		t.Error("a second probe")
	}
	b.releasePlace(probe)
	if _, since := b.stuckCalls(time.Now()); since > time.Minute/2 {
		t.Errorf("a call was answered, and none for %v", since)
	}
}

// TestAHangingPluginHarmsOnlyItself: hundreds of calls that are never answered, and another plugin serves.
func TestAHangingPluginHarmsOnlyItself(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits.InFlight, o.Limits.AllInFlight = 8, 24 })
	r.ensure(faulty())
	good := faulty("no-claims", "name=second")
	good.Name = "second"
	r.ensure(good)
	ctx, cancel := context.WithCancel(r.ctx())
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for n := range 200 {
		wg.Go(func() {
			_, err := r.Invoke(caller.With(ctx, caller.Caller{User: fmt.Sprint("u", n%3), RequestID: fmt.Sprint(n)}), "faulty", "wait", []byte(`{"milliseconds":600000}`))
			var u *UnavailableError
			if errors.As(err, &u) && u.RetryAfter() >= time.Second {
				mu.Lock()
				refused++
				mu.Unlock()
			}
		})
	}
	s, _ := r.findSupervisor("faulty")
	for running := 0; running < 8; running, _ = s.calls.countCalls() {
		r.ports("second")
	}
	for range 50 {
		r.ports("second")
	}
	cancel()
	wg.Wait()
	if refused < 200-24 {
		t.Errorf("%d refused", refused)
	}
	r.must("echo", "{}")
}

// ports asks a plugin for its ports.
func (r *rig) ports(name string) {
	r.t.Helper()
	if _, err := r.relayed(r.t.(*testing.T), "call", name, 1); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
}
