package datastore

import (
	"context"
	"errors"
	"time"
)

// retryAfter is how long Follow waits before it reads again what it could not.
const retryAfter = time.Second

// Follow calls changed for each commit that touches the namespace and prefix,
// whichever node of a cluster made it, until ctx ends or the store is closed. It
// begins with a call without a batch, for what came before it, and makes another
// whenever the store could not be followed or changed failed: nothing is missed.
func Follow(ctx context.Context, s Store, ns, prefix string, changed func(context.Context, *Batch) error) error {
	for {
		began := s.Revision()
		err := changed(ctx, nil)
		if err == nil {
			err = s.Watch(ctx, ns, prefix, began, func(b Batch) error { return changed(ctx, &b) })
		}
		if ctx.Err() != nil || errors.Is(err, ErrClosed) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryAfter):
		}
	}
}
