// Package projection is what every process reads of a datastore: an ordered tree in
// memory with the newest transactions, which an engine keeps equal to its log. It has
// the rules that engines share: what is a usable key, and what a transaction changes.
// Users of the store want package datastore.
package projection

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
)

// Projection publishes one State after the other. Engines embed it as the reading half of
// datastore.Store. One goroutine at a time calls Publish; everything else is safe for
// concurrent use.
type Projection struct {
	now    atomic.Pointer[State]
	sig    together.Signal
	done   chan struct{}
	closed sync.Once
}

// New makes a projection of the state.
func New(st *State) *Projection {
	p := &Projection{done: make(chan struct{})}
	p.now.Store(st)
	return p
}

// State is the newest one.
func (p *Projection) State() *State { return p.now.Load() }

// Revision is that of the newest state.
func (p *Projection) Revision() datastore.Revision {
	return p.State().rev
}

// Publish replaces the state and wakes who waits for it. A state that is not a successor
// of the one before ends watches of older revisions with ErrCompacted.
func (p *Projection) Publish(st *State) {
	p.now.Store(st)
	p.sig.Fire()
}

// Done is closed when the projection is.
func (p *Projection) Done() <-chan struct{} { return p.done }

// Err is ErrClosed after Close.
func (p *Projection) Err() error {
	select {
	case <-p.done:
		return datastore.ErrClosed
	default:
		return nil
	}
}

// Close ends watches. It reports whether this call did it.
func (p *Projection) Close() (first bool) {
	p.closed.Do(func() { close(p.done); first = true })
	return first
}

// View runs f on the newest state.
func (p *Projection) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.Err(); err != nil {
		return err
	}
	return f(p.State())
}

// Local is View for an engine that has everything here.
func (p *Projection) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return 0, p.View(context.Background(), f)
}

// Barrier is Revision for an engine that has everything here.
func (p *Projection) Barrier(ctx context.Context) (datastore.Revision, error) {
	if err := p.Err(); err != nil {
		return 0, err
	}
	return p.Revision(), ctx.Err()
}

// Wait returns when the state is at revision rev or later.
func (p *Projection) Wait(ctx context.Context, rev datastore.Revision) error {
	for {
		changed := p.sig.Wait() // before the look, so that no change is missed
		if p.Revision() >= rev {
			return nil
		}
		if err := p.waitForChange(ctx, changed); err != nil {
			return err
		}
	}
}

func (p *Projection) waitForChange(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.done:
		return datastore.ErrClosed
	}
}

// Together returns first and what else waits at this moment, most at the most: one write, or one question, serves all.
func Together[T any](first T, more <-chan T, most int) []T {
	all := []T{first}
	for len(all) < most {
		select {
		case one := <-more:
			all = append(all, one)
		default:
			return all
		}
	}
	return all
}

// Watch is Store.Watch.
func (p *Projection) Watch(
	ctx context.Context,
	after datastore.Revision,
	prefixes []datastore.Prefix,
	f func(datastore.Batch) error,
) error {
	for _, x := range prefixes {
		if err := CheckKey(x.Namespace, x.Key, true); err != nil {
			return err
		}
	}
	delivered := after
	for {
		changed := p.sig.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.Err(); err != nil {
			return err
		}
		// One batch after the other: the log is kept for all watches together, and one that is slow must not keep what
		// is no longer in it.
		newest := p.Revision()
		kept, err := p.State().batchesSince(after)
		if err != nil {
			return err
		}
		if len(kept) > 0 {
			b, mine := filterBatch(kept[0], prefixes)
			after, kept = b.Revision, nil
			if !mine {
				continue
			}
			delivered = after
			if err := f(b); err != nil {
				return err
			}
			continue
		}
		if after = max(after, newest); delivered < after &&
			p.Revision() == after { // what was left out is not watched here
			delivered = after
			if err := f(datastore.Batch{Revision: after}); err != nil {
				return err
			}
		}
		if p.Revision() > after {
			continue
		}
		if err := p.waitForChange(ctx, changed); err != nil {
			return err
		}
	}
}
