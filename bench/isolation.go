package main

import (
	"context"
	"fmt"
	"time"

	"ctl.internal/bench/rig"
)

// restarts is how often a plugin is started again in each round.
const restarts = 10

// isolationPart compares the start of a plugin, and calls to it, with isolation and without.
func (b *bench) isolationPart(ctx context.Context) error {
	on, err := b.withEcho(ctx, "isolated")
	if err != nil {
		return err
	}
	defer on.Stop()
	off, err := b.withEcho(ctx, "open", "CTL_SUPERVISOR_ISOLATION=off")
	if err != nil {
		return err
	}
	defer off.Stop()
	var took [2][]time.Duration
	for range b.rounds * restarts {
		for i, c := range []*rig.Controller{on, off} {
			began := time.Now()
			if _, err := c.Ctl(ctx, "plugin:restart bench-echo"); err != nil {
				return err
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	b.addDurationRow(
		"plugin:restart, isolated; the same without isolation",
		rig.At(took[0], 50),
		rig.At(took[1], 50),
		"< 10 ms more",
	)
	one := func(c *rig.Controller) *rig.Side {
		return newHTTPSide(1, c.HTTP, 0, nil, "POST", echo, basic, []byte(`{"input":`+echoed+`}`))
	}
	mine, free := one(on), one(off)
	// Short turns: both sides see the same of what else the machine does.
	if err := (rig.Comparison{
		Rounds:   b.rounds * restarts,
		Duration: b.duration / restarts,
	}).Run(ctx, mine, free); err != nil {
		return err
	}
	m, _ := mine.Median()
	f, _ := free.Median()
	b.addDurationRow("RPC on one connection, p50", m.P50, f.P50, "< 1.05")
	b.addDurationRow("the same, p99", m.P99, f.P99, "reported")
	return nil
}

// addDurationRow adds a row about two times: lower is better.
func (b *bench) addDurationRow(what string, ours, peer time.Duration, target string) {
	b.rows = append(b.rows, row{what, ours.Round(time.Microsecond).String(), peer.Round(time.Microsecond).String(),
		fmt.Sprintf(
			"%.3f, %v more",
			rig.Ratio(ours, peer),
			(ours - peer).Round(time.Microsecond),
		), target})
}
