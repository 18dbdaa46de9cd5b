package sdk

import (
	"context"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// treesServer answers the host when others change the plugin's trees.
type treesServer struct {
	pluginv1.UnimplementedTreesServer
	s *Server
}

// Check implements the service Trees.
func (t treesServer) Check(ctx context.Context, r *pluginv1.CheckRequest) (*pluginv1.CheckResponse, error) {
	p, err := t.s.current()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	changes := make([]host.Event, len(r.Changes))
	for i, c := range r.Changes {
		changes[i] = host.Event{Entry: host.Entry{Key: c.Key, Value: c.Value}, Deleted: c.Deleted}
	}
	if r.Caller != nil {
		ctx = caller.With(ctx, caller.FromProto(r.Caller))
	}
	txn, err := p.State.Check(ctx, r.Revision, changes, p.Check)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	out := &pluginv1.CheckResponse{}
	for _, c := range txn.Compares {
		out.Compares = append(out.Compares, &pluginv1.Compare{Space: c.Space, Plugin: c.Plugin, Key: c.Key, Revision: c.Revision, Prefix: c.Prefix})
	}
	for _, o := range txn.Ops {
		out.Ops = append(out.Ops, &pluginv1.Op{Space: o.Space, Key: o.Key, Value: o.Value, Delete: o.Delete, DeletePrefix: o.DeletePrefix})
	}
	return out, nil
}
