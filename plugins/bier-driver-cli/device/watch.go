package device

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/sdk/bierdriver"
)

// Watch is of the contract. A command line tells nothing by itself: the driver looks
// from time to time, and reports the router's coming, going and drift.
func (d *Driver) Watch(ctx context.Context, r *bierdriver.Router, emit func(*bierdriver.Event) error) error {
	if err := emit(&bierdriver.Event{Session: &bierdriver.Session{State: bierdriver.Connecting, Since: timestamppb.Now()}}); err != nil {
		return err
	}
	state := bierdriver.Connecting
	look := time.NewTicker(d.set.Poll.Duration)
	defer look.Stop()
	for {
		s, drift := d.look(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.State != state {
			state = s.State
			if err := emit(&bierdriver.Event{Session: s}); err != nil {
				return err
			}
		}
		if drift != "" {
			e := &bierdriver.Drift{At: timestamppb.Now(), What: "to repair: " + drift}
			if err := emit(&bierdriver.Event{Drift: e}); err != nil {
				return err
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look compares a router with what was applied last.
func (d *Driver) look(ctx context.Context, r *bierdriver.Router) (s *bierdriver.Session, drift string) {
	s, _, err := d.with(ctx, r, func(ctx context.Context, n *node, t *terminal) error {
		have, err := d.sections(ctx, t)
		if err != nil || !n.had {
			return err
		}
		if _, edits := d.model.Diff(have, n.last); len(edits) > 0 {
			drift = edits[0]
		}
		return nil
	})
	if err != nil && s.State == bierdriver.Up {
		s.State, s.Reason = bierdriver.Down, err.Error()
	}
	return s, drift
}
