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
	ctx = caller.FromProto(ctx, r.Caller)
	txn, err := p.State.Check(ctx, r.Revision, changes, p.Check)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	out := &pluginv1.CheckResponse{}
	out.Compares, out.Ops = txn.Proto()
	return out, nil
}
