package policy

import (
	"context"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
)

// Follow returns the store with one addition: after a commit that touches keys with one
// of the prefixes, changed runs with it before Commit returns, so that whoever is answered
// afterwards is decided by the new content. Changes of other nodes come by datastore.Follow.
func Follow(
	s datastore.Store,
	ns string,
	prefixes []string,
	changed func(ctx context.Context, prefix string),
) datastore.Store {
	return &followed{s, ns, prefixes, changed}
}

type followed struct {
	datastore.Store
	ns       string
	prefixes []string
	changed  func(context.Context, string)
}

// Commit commits and then reports the change.
func (f *followed) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	rev, err := f.Store.Commit(ctx, t)
	if err != nil {
		return rev, err
	}
	for _, prefix := range f.prefixes {
		if slices.ContainsFunc(t.Ops, func(o datastore.Op) bool {
			return o.Namespace == f.ns &&
				(strings.HasPrefix(o.Key, prefix) || o.DeletePrefix && strings.HasPrefix(prefix, o.Key))
		}) {
			f.changed(context.WithoutCancel(ctx), prefix) // the client may be gone, the change is not
		}
	}
	return rev, nil
}
