package state

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// margin is what a holder keeps of its term: it stops this much before the controller
// may give the role to another.
const margin = time.Second

// Term is one time of holding a role.
type Term struct {
	store *Store
	role  string
	epoch uint64
	until atomic.Int64 // CLOCK_BOOTTIME in nanoseconds; 0 = as long as the call runs
	ctx   context.Context
}

// Epoch grows with every change of the holder, on any node. OpenFlow's generation_id is
// such a number.
func (t *Term) Epoch() uint64 { return t.epoch }

// Check reports whether the role is still held, with a margin; an error says that this
// process must not act on a device any more. It is asked before each such act.
func (t *Term) Check() error {
	if err := t.ctx.Err(); err != nil {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the role %s is no longer held by this node",
			t.role,
		)
	}
	if left := t.timeLeft(); left <= 0 {
		return fault.New(
			fault.Unavailable,
			"the role %s may have gone to another node: its lease was not renewed in time",
			t.role,
		)
	}
	return nil
}

// timeLeft is how long the role is held for certain.
func (t *Term) timeLeft() time.Duration {
	until := t.until.Load()
	if until == 0 {
		return time.Hour
	}
	return time.Duration(until-bootTimeNanos()) - margin
}

// Act returns a context for one act on a device: it ends with ctx, with the term, and
// when the lease would run out, but not later than limit.
func (t *Term) Act(
	ctx context.Context,
	limit time.Duration,
) (context.Context, context.CancelFunc, error) {
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(t.ctx, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// Update is Store.Update under the condition that the role is held when it is applied.
func (t *Term) Update(ctx context.Context, decide func(*Tx) error) (uint64, error) {
	if err := t.Check(); err != nil {
		return 0, err
	}
	return t.store.update(ctx, t.role, decide)
}

// bootTimeNanos also runs while the machine sleeps, so a term ends then, too.
func bootTimeNanos() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}

// Role waits for a role of the manifest and calls run each time this process gets it,
// until ctx ends. The context of run ends when the role is lost; run then stops what it
// has begun and returns. When it returns earlier, the role is given up for a while.
func (s *Store) Role(ctx context.Context, name string, run func(ctx context.Context, term *Term)) {
	for ctx.Err() == nil {
		began := time.Now()
		err := s.holdRole(ctx, name, run)
		if ctx.Err() != nil {
			return
		}
		slog.Info("a role is not held any more; asking for it again", "role", name, "reason", err)
		pause := 50*time.Millisecond + time.Duration(rand.Int64N(int64(100*time.Millisecond)))
		if time.Since(began) < time.Second {
			pause *= 5
		}
		host.Pause(ctx, pause)
	}
}

func (s *Store) holdRole(ctx context.Context, name string, run func(context.Context, *Term)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The call ends after run: then nothing acts in the role any more, and another may.
	call, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var mu sync.Mutex
	running := false
	context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !running {
			end()
		}
	})
	var term *Term
	var expiry *time.Timer
	done := make(chan struct{})
	err := s.host.Roles.Hold(call, name, func(epoch uint64, until int64) error {
		if term != nil {
			term.until.Store(until)
			expiry.Reset(term.timeLeft())
			return nil
		}
		if err := s.WaitFor(ctx, epoch); err != nil { // whatever the holder before wrote is seen
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		running = true
		term = &Term{
			store: s,
			role:  name,
			epoch: epoch,
			ctx:   ctx,
		}
		term.until.Store(until)
		expiry = time.AfterFunc(term.timeLeft(), func() {
			if term.timeLeft() <= 0 {
				cancel()
			}
		})
		go func() {
			defer close(done)
			defer end()
			defer cancel()
			run(ctx, term)
		}()
		return nil
	})
	cancel()
	if term != nil {
		expiry.Stop()
		<-done
	}
	return err
}
