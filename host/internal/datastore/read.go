package datastore

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"ctl.internal/sdk/fault"
)

type localKey struct{}

// AskLocal marks what is done with a context as content with what this process knows: its
// reads do not wait for what others may have written, and go on without the cluster.
func AskLocal(ctx context.Context) context.Context {
	return context.WithValue(ctx, localKey{}, true)
}

// AsksLocal reports whether a context was marked by AskLocal.
func AsksLocal(ctx context.Context) bool {
	return ctx.Value(localKey{}) != nil
}

type budgetKey struct{}

// leastWait is what a call may wait for an engine whose budget is used up, which answers in
// a few milliseconds when nothing is wrong with it.
const leastWait = 250 * time.Millisecond

// WithBudget bounds what all calls of a Bound store made with a context wait in all, one
// after the other, so that whoever asked is answered in time after a slow read and a write
// that hangs.
func WithBudget(ctx context.Context, limit time.Duration) context.Context {
	b := &atomic.Int64{}
	b.Store(int64(limit))
	return context.WithValue(ctx, budgetKey{}, b)
}

// Budget returns the remaining budget; false if there is no limit.
func Budget(ctx context.Context) (left time.Duration, ok bool) {
	b, ok := ctx.Value(budgetKey{}).(*atomic.Int64)
	if !ok {
		return 0, false
	}
	return max(time.Duration(b.Load()), leastWait), true
}

// waitLimit is the limit of a call; the function it returns takes what it waited from the budget.
func (b bounded) waitLimit(ctx context.Context) (limit time.Duration, done func()) {
	left, ok := Budget(ctx)
	if !ok {
		return b.limit, func() {}
	}
	begun := time.Now()
	return min(left, b.limit), func() {
		ctx.Value(budgetKey{}).(*atomic.Int64).Add(-int64(time.Since(begun)))
	}
}

// Read is View, or Local when the context asks for it.
func Read(ctx context.Context, s Store, f func(Snapshot) error) error {
	if !AsksLocal(ctx) {
		return s.View(ctx, f)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.Local(f)
	return err
}

// Bound returns the store with a limit for each call that waits for the engine: whoever
// asks is answered within it, also when the engine, its disk or its cluster hangs. A
// commit that is cut off fails with a fault of kind Timeout, and may be applied all the same.
// measured, if there is one, gets how long each "barrier" and "commit" took, and its error.
func Bound(
	s Store,
	limit time.Duration,
	measured ...func(operation string, took time.Duration, err error),
) Store {
	l, shared := s.(Leases)
	b := bounded{s, limit, shared, &atomic.Int64{}, func(string, time.Duration, error) {}}
	if len(measured) > 0 {
		b.measured = measured[0]
	}
	if shared {
		return struct {
			bounded
			Leases
		}{b, l}
	}
	return b
}

type bounded struct {
	Store
	limit time.Duration
	// shared says that a barrier asks other nodes; an embedded engine answers from memory, which needs no timer.
	shared bool
	away   *atomic.Int64 // when a barrier failed last, in Unix nanoseconds; 0 = the last one did not

	measured func(operation string, took time.Duration, err error)
}

// awayFor is how long others are refused at once after one has waited in vain: a request
// that reads several times, and those that come with it, wait only once.
const awayFor = time.Second

func noAnswer(cause error) error {
	return fault.Wrap(
		fault.Unavailable,
		cause,
		"the datastore cannot confirm the newest state, because its disk or the majority of its cluster is not available; reads of the local state continue",
	)
}

// View implements Store.
func (b bounded) View(ctx context.Context, f func(Snapshot) error) error {
	if _, err := b.Barrier(ctx); err != nil {
		return err
	}
	_, err := b.Local(f)
	return err
}

// Barrier implements Store.
func (b bounded) Barrier(ctx context.Context) (Revision, error) {
	at := b.away.Load()
	if at != 0 && time.Since(time.Unix(0, at)) < awayFor {
		return 0, noAnswer(nil)
	}
	limit, done := b.waitLimit(ctx)
	defer done()
	bound := ctx
	if b.shared {
		var cancel context.CancelFunc
		bound, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	began := time.Now()
	rev, err := b.Store.Barrier(bound)
	b.measured("barrier", time.Since(began), err)
	switch {
	case err == nil:
		b.away.Store(0)
	case ctx.Err() == nil && !errors.Is(err, ErrClosed):
		b.away.Store(time.Now().UnixNano())
		err = noAnswer(err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = noAnswer(err)
	}
	return rev, err
}

// Commit implements Store.
func (b bounded) Commit(ctx context.Context, t Txn) (rev Revision, err error) {
	defer func(began time.Time) {
		b.measured("commit", time.Since(began), err)
	}(time.Now())
	type result struct {
		rev Revision
		err error
	}
	done := make(chan result, 1)
	most, waited := b.waitLimit(ctx)
	defer waited()
	at, ok := ctx.Deadline()
	if ok { // a caller who leaves earlier does not end it: the change is awaited all the same
		most = min(most, time.Until(at))
	}
	limit := time.NewTimer(most)
	defer limit.Stop()
	go func() { // ends with the engine's answer
		rev, err := b.Store.Commit(ctx, t)
		done <- result{rev, err}
	}()
	select {
	case r := <-done:
		return r.rev, r.err
	case <-limit.C:
	}
	select {
	case r := <-done:
		return r.rev, r.err
	default:
		return 0, fault.New(
			fault.Timeout,
			"the datastore did not answer in time, so it is not known whether the change was made: read the data before you repeat it",
		)
	}
}
