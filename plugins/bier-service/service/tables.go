package service

import (
	"context"
	"fmt"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/host"
)

// convergence is how long a difference must last: while routers learn a change, their tables differ.
const convergence = 5 * time.Second

// followTables compares the forwarding tables of one router after the other with those computed, so that
// each has its turn within the interval of the settings, until ctx ends.
func (a *acting) followTables(ctx context.Context) {
	interval := a.set.Tables.Duration
	if interval <= 0 {
		return
	}
	for ctx.Err() == nil {
		nodes := a.data.Mounts.Nodes(a.data.store.Now())
		each := interval / time.Duration(max(1, len(nodes)))
		if len(nodes) == 0 {
			host.Pause(ctx, interval)
		}
		for _, node := range nodes {
			if host.Pause(ctx, each); ctx.Err() != nil {
				return
			}
			a.compareTables(ctx, node)
		}
	}
}

// compareTables notes whether a router whose session is up has other tables than computed. What cannot be
// read changes nothing.
func (a *acting) compareTables(ctx context.Context, node string) {
	now := a.data.store.Now()
	session, _ := a.data.status.Sessions.Get(now, node)
	if session.State != bier.SessionUp || a.data.status.Lacks(now, node, "forwarding") {
		return
	}
	v := a.verifyOne(ctx, now, node)
	if v.Result == different {
		if host.Pause(ctx, convergence); ctx.Err() != nil {
			return
		}
		v = a.verifyOne(ctx, a.data.store.Now(), node)
	}
	key := node + "/" + bier.NetworkDiffers
	switch v.Result {
	case equal:
		a.records.notice(key, nil)
	case different:
		text := bier.Several(v.Differences)
		if len(v.Differences) > 1 {
			text = fmt.Sprintf("%d differences: %s", len(v.Differences), text)
		}
		x, _ := a.data.status.Get(now, bier.RouterKey(node))
		a.records.notice(key, &bier.Notice{Node: node, Kind: bier.NetworkDiffers, Text: text, At: time.Now().UTC().Truncate(time.Millisecond), Hash: x.Hash})
	}
}
