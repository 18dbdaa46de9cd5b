package writes

import (
	"context"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// carried is an operation that is being carried out; drivers reach it by the context.
type carried struct {
	w      *Writer
	term   *state.Term
	record Record
	stored bool // the datastore has the record
	begun  bool // as sent
	kept   bool // its end is not certain
	quiet  bool // what is sent takes the operation back
	partly bool // an undo that leaves what was changed since
}

type carriedKey struct{}

func carriedFrom(ctx context.Context) *carried {
	c, _ := ctx.Value(carriedKey{}).(*carried)
	return c
}

// Begin notes what is going to be sent. It fails when the datastore does not take that,
// or when another process has the role: then nothing may be sent. A way of making the
// change that replaces one that was refused is begun again.
func Begin(ctx context.Context, p Plan) error {
	c := carriedFrom(ctx)
	if c == nil || c.quiet {
		return nil
	}
	r := c.record
	r.Plan, r.State, r.Epoch, r.Source = p, Sent, c.term.Epoch(), c.w.opt.Source
	r.Partly = c.partly
	if err := c.w.putRecord(ctx, c, r); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return err
		}
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the change was not started, because it cannot be written to the datastore: %v",
			err,
		)
	}
	c.begun = true
	return nil
}

// Check is called before each PDU or line that changes a device: an error says that
// another process may act on devices now.
func Check(ctx context.Context) error {
	if c := carriedFrom(ctx); c != nil {
		return c.term.Check()
	}
	return nil
}

// Named returns the ports of the operation that the caller named, by number.
func Named(ctx context.Context) map[uint32]string {
	if c := carriedFrom(ctx); c != nil {
		return c.record.Operation.Ports
	}
	return nil
}

// Keep says that the device may be neither as before nor as asked for.
func Keep(ctx context.Context) {
	if c := carriedFrom(ctx); c != nil {
		c.kept = true
	}
}

// Leave says, before anything is sent, that an undo leaves what was changed since: the change can be undone again.
func Leave(ctx context.Context) {
	if c := carriedFrom(ctx); c != nil {
		c.partly = true
	}
}

// TakingBack returns a context for taking an operation back, which may last a while after
// the call's own time is over, but not longer than the role is held.
func TakingBack(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	c := carriedFrom(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	if c == nil {
		return ctx, cancel
	}
	quiet := *c
	quiet.quiet = true
	act, end, err := c.term.Act(context.WithValue(ctx, carriedKey{}, &quiet), most)
	if err != nil {
		cancel()
		return ctx, cancel
	}
	return act, func() { end(); cancel() }
}

// ReadBack looks at a switch until it shows what was written: some need a moment. look returns how it
// differs, and ReadBack what it returned last. It ends early when ctx does.
func ReadBack(
	ctx context.Context,
	look func() (differs string, err error),
) (differs string, err error) {
	for _, pause := range []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
		host.Pause(ctx, pause)
		switch {
		case ctx.Err() == nil:
		case differs == "": // it was not looked at
			return "", ctx.Err()
		default:
			return differs, nil
		}
		if differs, err = look(); err != nil || differs == "" {
			return "", err
		}
	}
	return differs, nil
}
