package main

import (
	"context"
	"fmt"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/switchlist"
)

// traps is how many single traps are measured.
const traps = 10

// afterTrap measures how long after a trap the topology shows what the switch reports
// now, in a network of all switches, the wait for further traps included.
func (o options) afterTrap(ctx context.Context, list []switchlist.Entry) error {
	r := newRooms(nil, o.workers)
	defer r.close()
	r.survey.Start()
	r.inventory.Set("agents", list, nil)
	if err := r.awaitResult(ctx, discovery.List); err != nil {
		return err
	}
	if err := r.survey.Idle(ctx); err != nil {
		return err
	}
	b := rig.Never()
	worst := time.Duration(0)
	for i := range traps {
		start := time.Now()
		err := b.Round(func() error {
			r.survey.Touch(discovery.Hint{
				Node:      list[i*len(list)/traps].MAC,
				IfIndex:   1,
				Neighbors: true,
			})
			return r.awaitResult(ctx, discovery.Trap)
		})
		if err != nil {
			return err
		}
		worst = max(worst, time.Since(start))
	}
	rig.Row(
		"topology after a trap",
		b.Clock,
		fmt.Sprintf(
			"at worst %.1f ms; asked for 2000; processor time %.1f ms",
			float64(worst.Microseconds())/1000,
			float64(b.CPU.Microseconds())/1000,
		),
	)
	return nil
}

// awaitResult waits for a result that came about so.
func (r *rooms) awaitResult(ctx context.Context, cause discovery.Cause) error {
	for {
		select {
		case c := <-r.published:
			if c == cause {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
