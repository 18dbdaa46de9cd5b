package reconcile

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/bierdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A router that should carry something and cannot be given any of it is not "applied",
// though there is nothing to send to it.
func TestWhatCannotBeHadIsNotApplied(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	e := New(ctx, Options{Target: func(string) *bierdriver.Router { return nil }, Report: func(string, string) {}, RetryMin: time.Millisecond, RetryMax: time.Millisecond, Parallel: 1}, nil)
	defer e.Wait()
	defer cancel()
	for range 3 {
		e.Want(map[string]*bier.Desired{"a": {Config: &bierdriver.Config{}, Problems: []string{"no bfr-id"}}})
		if s := e.Settle(ctx, []string{"a"})[0]; s.State != bier.Failed || s.Reason != "no bfr-id" {
			t.Fatalf("%+v", s)
		}
		if s := e.States([]string{"a"})[0]; s.State != bier.Failed {
			t.Fatalf("%+v", s)
		}
		e.Want(nil)
		for s := e.States(nil); len(s) > 0; s = e.States(nil) { // it is none of ours any more
			e.mu.Lock()
			changed, gone := e.changed, len(e.routers) == 0
			e.mu.Unlock()
			if gone {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("never forgotten: %+v", s)
			}
		}
	}
}
