package datastore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"ctl.internal/internal/together"
)

// Follower keeps something equal to a part of a store.
type Follower interface {
	// Reset takes the state as it is; whatever was known before is forgotten.
	Reset(Snapshot) error
	// Apply takes the changes of one transaction, or progress (no events).
	Apply(Batch) error
}

// Follow brings f to the state under the prefixes and keeps it there until ctx ends or
// the store is closed: a snapshot, then every change after it, in order. When the
// history it needs is gone, or f fails, it begins again with a snapshot.
func Follow(ctx context.Context, s Store, prefixes []Prefix, f Follower) error {
	pause := time.Duration(0)
	for {
		var at Revision
		_, err := s.Local(func(sn Snapshot) error {
			at = sn.Revision()
			return f.Reset(sn)
		})
		if err == nil {
			err = s.Watch(ctx, at, prefixes, func(b Batch) error {
				pause = 0
				return f.Apply(b)
			})
		}
		if ctx.Err() != nil || errors.Is(err, ErrClosed) {
			return nil
		}
		if together.Sleep(ctx, pause) != nil {
			return nil
		}
		pause = min(2*pause+time.Duration(rand.Int64N(int64(100*time.Millisecond))), 2*time.Second)
	}
}

// Changed calls changed once at the beginning and again after every change under the
// prefixes, whichever node made it, until ctx ends or the store is closed. When changed
// fails it is called again.
func Changed(
	ctx context.Context,
	s Store,
	prefixes []Prefix,
	changed func(context.Context, *Batch) error,
) error {
	return Follow(ctx, s, prefixes, callback{ctx, changed})
}

type callback struct {
	ctx     context.Context
	changed func(context.Context, *Batch) error
}

func (c callback) Reset(Snapshot) error {
	return c.changed(c.ctx, nil)
}

func (c callback) Apply(b Batch) error {
	if len(b.Events) == 0 {
		return nil
	}
	return c.changed(c.ctx, &b)
}
