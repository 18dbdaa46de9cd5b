package plugin

import (
	"context"

	"ctl.internal/host/internal/datastore"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// Invoke executes an RPC of an installed module for the caller in ctx. input and
// output are the members of the RPC's input and output as JSON objects; nil = none.
// Errors are *fault.Error, fault.List or *UnavailableError.
func (m *Manager) Invoke(ctx context.Context, module, rpc string, input []byte) ([]byte, error) {
	op, ok := m.index.Load().rpcs[module+":"+rpc]
	if !ok {
		return nil, fault.New(fault.NotFound, "no installed feature serves the RPC %s:%s", module, rpc)
	}
	if op.safe {
		ctx = Safe(ctx)
	}
	if _, ok := ctx.Deadline(); !ok {
		limit := op.timeout
		if limit <= 0 {
			limit = m.limits.CallTimeout
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	ctx, err := m.fresh(ctx)
	if err != nil {
		return nil, err
	}
	return operations.NewClient(conn{s: op.s}).Invoke(ctx, module, rpc, input)
}

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
