package badger

import (
	"context"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Revision is that of the newest committed transaction.
func (s *Store) Revision() datastore.Revision { return s.p.Revision() }

// View runs f on a consistent snapshot.
func (s *Store) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	return s.p.View(ctx, f)
}

// Local is View: everything is here.
func (s *Store) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return 0, s.p.View(context.Background(), f)
}

// Barrier is Revision: everything is here.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	if err := s.p.Err(); err != nil {
		return 0, err
	}
	return s.Revision(), ctx.Err()
}

// Watch follows the changes under the prefixes.
func (s *Store) Watch(ctx context.Context, after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	return s.p.Watch(ctx, after, prefixes, f)
}
