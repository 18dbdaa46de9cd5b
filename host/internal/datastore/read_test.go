package datastore

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ctl.internal/sdk/fault"
)

// slow is an engine that needs a time to say what is newest, and hangs in a commit.
type slow struct {
	Store
	barrier time.Duration
}

func (s slow) Barrier(ctx context.Context) (Revision, error) {
	select {
	case <-time.After(s.barrier):
		return 1, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (s slow) Commit(context.Context, Txn) (Revision, error) {
	<-time.After(time.Minute)
	return 2, nil
}

// A read that is slow and a write that hangs take no longer together than one call may; one
// after that gets a moment, in which an engine that is well answers.
func TestABudgetBoundsAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4500 * time.Millisecond
		s := Bound(slow{barrier: 3 * time.Second}, limit)
		began := time.Now()
		ctx := WithBudget(t.Context(), limit)
		if _, err := s.Barrier(ctx); err != nil {
			t.Fatal(err)
		}
		if left, ok := Budget(ctx); !ok || left != limit-3*time.Second {
			t.Errorf("%s are left", left)
		}
		if _, err := s.Commit(ctx, Txn{}); fault.KindOf(err) != fault.Timeout || time.Since(began) != limit {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if _, err := s.Commit(ctx, Txn{}); fault.KindOf(err) != fault.Timeout || time.Since(began) != limit+leastWait {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if _, err := s.Barrier(t.Context()); err != nil {
			t.Errorf("without a budget: %v", err)
		}
		<-time.After(2 * time.Minute) // the commits end
	})
}
