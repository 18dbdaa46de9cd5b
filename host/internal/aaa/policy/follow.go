package policy

import (
	"context"
	"errors"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Follow returns the store with one addition: after a commit that touches keys
// with the prefix, changed runs before Commit returns, so that whoever is answered
// afterwards is decided by the new content. Changes of other nodes come by Watch.
func Follow(s datastore.Store, ns, prefix string, changed func(context.Context)) datastore.Store {
	return &followed{s, ns, prefix, changed}
}

type followed struct {
	datastore.Store
	ns, prefix string
	changed    func(context.Context)
}

// Commit commits and then tells of the change.
func (f *followed) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	rev, err := f.Store.Commit(ctx, t)
	if err != nil {
		return rev, err
	}
	for _, o := range t.Ops {
		if o.Namespace == f.ns && (strings.HasPrefix(o.Key, f.prefix) || o.DeletePrefix && strings.HasPrefix(f.prefix, o.Key)) {
			f.changed(context.WithoutCancel(ctx)) // the client may be gone, the change is not
			break
		}
	}
	return rev, nil
}

// retryAfter is how long Watch waits before it reads again what it could not.
const retryAfter = time.Second

// Watch calls changed after each commit that touches keys with the prefix, whichever
// node of a cluster made it, until ctx ends. It begins with a call for what came
// before it, and whenever the store could not be followed, or changed failed, it
// calls again: nothing is missed.
func Watch(ctx context.Context, s datastore.Store, ns, prefix string, changed func(context.Context) error) error {
	for {
		began := s.Revision()
		err := changed(ctx)
		if err == nil {
			err = s.Watch(ctx, ns, prefix, began, func(datastore.Batch) error { return changed(ctx) })
		}
		if ctx.Err() != nil || errors.Is(err, datastore.ErrClosed) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryAfter):
		}
	}
}
