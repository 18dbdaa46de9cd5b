package server

import (
	"context"
	"maps"
	"slices"

	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf/tree"
)

const topologyTree = "/network-topology:network-topology/topology="

// mirrorTopologies keeps the operational tree network-topology equal to what the
// sources of topology say.
func (s *Server) mirrorTopologies(ctx context.Context) error {
	mirror := topomirror.Start(s.plugins, s.registry.Logger("org.ctl.topology"))
	defer mirror.Close()
	written := map[string]string{}
	for {
		changed := mirror.Changed()
		view := mirror.View()
		for _, id := range slices.Sorted(maps.Keys(written)) {
			if view.Topology(id) == nil {
				delete(written, id)
				s.setTopology(ctx, id, nil)
			}
		}
		for id := range view.Topologies {
			if text := view.Topology(id); string(text) != written[id] {
				written[id] = string(text)
				s.setTopology(ctx, id, text)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (s *Server) setTopology(ctx context.Context, id string, text []byte) {
	err := s.restconf.Operational().Set(ctx, s.catalog.Installed().Schema, topologyTree+tree.EscapeKey(id), text)
	if err != nil && ctx.Err() == nil {
		s.log.Error("a topology cannot be shown in the operational tree", "topology", id, "error", err)
	}
}
