package restconf

import (
	"context"
	"errors"
	"testing"

	"ctl.internal/host/internal/datastore"
)

type datastoreRevision = datastore.Revision

var errEnough = errors.New("enough")

// countWrites replays the store's history.
func countWrites(t testing.TB, s datastore.Store, after datastore.Revision) int {
	t.Helper()
	n, last := 0, s.Revision()
	for _, ns := range []string{"config-tree", "restconf-meta"} {
		err := s.Watch(context.Background(), after, []datastore.Prefix{{Namespace: ns}}, func(b datastore.Batch) error {
			n += len(b.Events)
			if b.Revision == last {
				return errEnough
			}
			return nil
		})
		if !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
	}
	return n
}
