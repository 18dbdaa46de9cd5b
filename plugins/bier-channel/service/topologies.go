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
	return t.ask(ctx, id, bier.ReadTopologies)
}

// settled is get behind the changes that are decided at this moment.
func (t *topologies) settled(ctx context.Context, id string) (*bier.Topology, error) {
	return t.ask(ctx, id, bier.ReadSettledTopologies)
}

func (t *topologies) ask(ctx context.Context, id string, read func(context.Context, *host.Operations, string, uint64) (bier.TopologyView, error)) (*bier.Topology, error) {
	t.mu.Lock()
	have := t.views[id]
	t.mu.Unlock()
	v, err := read(ctx, t.host.Operations, id, have.Revision)
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
