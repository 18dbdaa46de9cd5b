package conformance

import (
	"context"
	"testing"
	"time"

	"ctl.internal/sdk/bierdriver"
)

// watchEvents runs the driver's watch until the test ends and returns what it reports.
func (p Peer) watchEvents(t *testing.T) <-chan *bierdriver.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan *bierdriver.Event)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Driver.Watch(ctx, p.Router, func(e *bierdriver.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(p.Deadline):
			t.Error("a cancelled watch does not end")
		}
	})
	return events
}

// awaitEvent waits for an event.
func (p Peer) awaitEvent(
	t *testing.T,
	events <-chan *bierdriver.Event,
	what string,
	is func(*bierdriver.Event) bool,
) {
	t.Helper()
	limit := time.After(p.Deadline)
	for {
		select {
		case e := <-events:
			if is(e) {
				return
			}
		case <-limit:
			t.Fatalf("never reported: %s", what)
		}
	}
}

func isSessionState(s bierdriver.SessionState) func(*bierdriver.Event) bool {
	return func(e *bierdriver.Event) bool { return e.GetSession().GetState() == s }
}

func checkWatches(t *testing.T, p Peer) {
	events := p.watchEvents(t)
	p.awaitEvent(t, events, "the session is up", isSessionState(bierdriver.Up))
	if p.Up == nil {
		return
	}
	p.Up(false)
	p.awaitEvent(t, events, "the session is down", isSessionState(bierdriver.Down))
	p.Up(true)
	p.awaitEvent(t, events, "the session is up again", isSessionState(bierdriver.Up))
}

func checkDriftReport(t *testing.T, p Peer) {
	if p.Change == nil {
		t.Skip("SKIPPED, NOT TESTED: a change by others: the peer's router cannot be changed by another client")
	}
	events := p.watchEvents(t)
	p.awaitEvent(t, events, "the session is up", isSessionState(bierdriver.Up))
	p.applyConfig(t, p.Configs[0])
	p.Change()
	p.awaitEvent(t, events, "somebody else changed the router", func(e *bierdriver.Event) bool {
		return e.Drift != nil
	})
	p.applyConfig(t, p.Configs[0])
}

func checkCancelledCalls(t *testing.T, p Peer) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Driver.Apply(ctx, p.Router, p.Configs[0], bierdriver.Always)
		_, _ = p.Driver.Read(ctx, p.Router)
		_, _ = p.Driver.Probe(ctx, p.Router)
	}()
	select {
	case <-done:
	case <-time.After(p.Deadline):
		t.Error("cancelled calls do not end")
	}
}
