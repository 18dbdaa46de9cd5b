package service

import (
	"context"
	"sync"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// topologies are the topologies as the topology manager told of them last: it is asked
// each time, but answers only with what is new.
type topologies struct {
	host *host.Client

	mu    sync.Mutex
	views map[string]bier.TopologyView
}

// maxViews bounds the topologies that are kept.
const maxViews = 64

// get returns a topology. It must not be changed.
func (t *topologies) get(ctx context.Context, id string) (*bier.Topology, error) {
	t.mu.Lock()
	have := t.views[id]
	t.mu.Unlock()
	v, err := bier.ReadTopologies(ctx, t.host.Operations, id, have.Revision)
	if err != nil {
		return nil, err
	}
	if v.Topologies == nil {
		v = have
	}
	if v.Topologies == nil || len(v.Topologies.List) != 1 {
		return nil, fault.New(fault.Internal, "the topology manager did not tell of topology %s", id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.views) >= maxViews {
		clear(t.views)
	}
	t.views[id] = v
	return &v.Topologies.List[0], nil
}
