package server

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf/tree"
)

const topologyTree = "/network-topology:network-topology/topology="

// topologyRole is held by the one node that writes the topologies into the tree, which
// all nodes read.
const topologyRole = "topology-mirror"

// mirrorTopologies keeps the operational tree network-topology equal to what the
// sources of topology say, on one node at a time.
func (s *Server) mirrorTopologies(ctx context.Context) error {
	for {
		term, err := s.roles.Hold(ctx, topologyRole, "host")
		if err != nil {
			return err
		}
		s.mirrorFor(ctx, term)
		term.Release()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// mirrorFor mirrors for one term of the role.
func (s *Server) mirrorFor(ctx context.Context, term hostsvc.Term) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mirror := topomirror.Start(s.plugins, s.registry.Logger("org.ctl.topology"))
	defer mirror.Close()
	written := s.mirrored(ctx)
	for {
		changed := mirror.Changed()
		view := mirror.View()
		for _, id := range slices.Sorted(maps.Keys(written)) {
			// What an earlier holder wrote stays until the sources have been heard.
			if view.Synced && view.Topology(id) == nil {
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
		for renewed := true; renewed; {
			select {
			case <-ctx.Done():
				return
			case <-term.Lost():
				return
			case <-term.Renewed():
			case <-changed:
				renewed = false
			}
		}
	}
}

// mirrored returns the topologies that the node before has written: their text is not
// known, so each is written again once.
func (s *Server) mirrored(ctx context.Context) map[string]string {
	out := map[string]string{}
	err := s.store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(tree.OperationalNamespace, datastore.RangeOptions{Prefix: topologyTree}) {
			if err != nil {
				return err
			}
			var t struct {
				Provided bool `json:"server-provided"`
			}
			key := strings.TrimPrefix(e.Key, topologyTree)
			if strings.Contains(key, "/") || json.Unmarshal(e.Value, &t) != nil || !t.Provided {
				continue
			}
			if id, err := url.PathUnescape(key); err == nil {
				out[id] = ""
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn("topologies that are not there any more may stay in the operational tree", "error", err)
	}
	return out
}

func (s *Server) setTopology(ctx context.Context, id string, text []byte) {
	err := s.restconf.Operational().Set(ctx, s.catalog.Installed().Schema, topologyTree+tree.EscapeKey(id), text)
	if err != nil && ctx.Err() == nil {
		s.log.Error("a topology cannot be shown in the operational tree", "topology", id, "error", err)
	}
}
