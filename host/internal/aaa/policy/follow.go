package policy

import (
	"context"
	"strings"

	"ctl.internal/host/internal/datastore"
)

// Follow returns the store with one addition: after a commit that touches keys
// with the prefix, changed runs before Commit returns, so that whoever is answered
// afterwards is decided by the new content. Changes of other nodes come by
// datastore.Follow.
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
