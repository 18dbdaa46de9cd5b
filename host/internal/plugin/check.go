package plugin

import (
	"context"

	"ctl.internal/host/internal/datastore"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Document is a document of a YANG tree that a change writes or deletes.
type Document struct {
	Key     string
	Value   []byte
	Deleted bool
}

// Check asks the plugin that owns a tree about a change that was worked out at a revision.
// The transaction is what belongs to the change.
func (m *Manager) Check(ctx context.Context, name string, at datastore.Revision, changes []Document) (t datastore.Txn, err error) {
	s, err := m.get(name)
	if err != nil {
		return t, err
	}
	req := &pluginv1.CheckRequest{Revision: uint64(at)}
	if who, ok := caller.From(ctx); ok {
		req.Caller = caller.ToProto(who)
	}
	for _, c := range changes {
		req.Changes = append(req.Changes, &pluginv1.DocumentChange{Key: c.Key, Value: c.Value, Deleted: c.Deleted})
	}
	res, err := pluginv1.NewTreesClient(conn{s: s}).Check(Safe(ctx), req)
	if err != nil {
		return t, fault.FromStatus(err)
	}
	return s.services.Decided(res.Compares, res.Ops)
}
