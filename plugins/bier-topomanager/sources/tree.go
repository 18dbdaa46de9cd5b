package sources

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"

	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

// The configuration tree network-topology: a document for each entry of its lists,
// under its RFC 8040 path. topology-netconf there says how routers are reached and
// is no network.
const (
	treeKey = "/network-topology:network-topology/topology="
	netconf = "topology-netconf"
	tree    = "configuration"
)

// document is what the entries of the lists hold, all in one.
type document struct {
	Source struct {
		Node string `json:"source-node"`
		TP   string `json:"source-tp"`
	} `json:"source"`
	Dest struct {
		Node string `json:"dest-node"`
		TP   string `json:"dest-tp"`
	} `json:"destination"`
}

// FollowTree takes in the topologies that users put into the configuration tree,
// until ctx ends.
func (m *Merge) FollowTree(ctx context.Context, data *host.Datastore) {
	for ctx.Err() == nil {
		err := m.readTree(ctx, data)
		if err == nil {
			err = data.Watch(ctx, host.Config, treeKey, 0, func(host.Batch) error { return m.readTree(ctx, data) })
		}
		if ctx.Err() == nil {
			slog.Debug("the configuration tree network-topology is not followed; trying again", "err", err)
			wait(ctx)
		}
	}
}

func (m *Merge) readTree(ctx context.Context, data *host.Datastore) error {
	all := map[string]topology.Topology{}
	for e, err := range data.Range(ctx, host.Config, treeKey) {
		if err != nil {
			return err
		}
		if err := take(all, e); err != nil {
			slog.Warn("a part of the configuration tree network-topology cannot be read", "key", e.Key, "err", err)
		}
	}
	ids := map[string]bool{}
	for id, t := range all {
		ids[id] = true
		c, _ := topology.Diff(topology.Topology{}, t)
		c.TopologyID, c.Snapshot = id, true
		m.Change(tree, c)
	}
	m.Keep(tree, ids)
	return nil
}

// take adds a document to the topologies.
func take(all map[string]topology.Topology, e host.Entry) error {
	segments := strings.Split(strings.TrimPrefix(e.Key, treeKey), "/")
	names := make([]string, len(segments))
	for i, s := range segments {
		if i > 0 {
			_, s, _ = strings.Cut(s, "=")
		}
		var err error
		if names[i], err = url.PathUnescape(s); err != nil {
			return err
		}
	}
	id := names[0]
	if id == netconf {
		return nil
	}
	t, ok := all[id]
	if !ok {
		t = topology.Topology{ID: id, Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
		all[id] = t
	}
	switch {
	case len(segments) == 2 && strings.HasPrefix(segments[1], "node="):
		node(t, names[1])
	case len(segments) == 3 && strings.HasPrefix(segments[2], "termination-point="):
		node(t, names[1]).TPs[names[2]] = topology.TerminationPoint{ID: names[2]}
	case len(segments) == 2 && strings.HasPrefix(segments[1], "link="):
		var d document
		if err := json.Unmarshal(e.Value, &d); err != nil {
			return err
		}
		t.Links[names[1]] = topology.Link{ID: names[1], SourceNode: d.Source.Node, SourceTP: d.Source.TP, DestNode: d.Dest.Node, DestTP: d.Dest.TP}
	}
	return nil
}

// node returns a node, made if need be: its parts may come before it.
func node(t topology.Topology, id string) topology.Node {
	n, ok := t.Nodes[id]
	if !ok {
		n = topology.Node{ID: id, TPs: map[string]topology.TerminationPoint{}}
		t.Nodes[id] = n
	}
	return n
}
