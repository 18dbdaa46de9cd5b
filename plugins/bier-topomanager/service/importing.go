package service

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/plugins/bier-topomanager/sources"
	"ctl.internal/sdk"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// The names, among the sources, of what users imported and of what they configured in the
// tree network-topology.
const (
	imports       = "import"
	configuration = "configuration"
)

// netconf is the topology of network-topology that says how routers are reached; it is no
// network.
const netconf = "topology-netconf"

// importing takes what the sources see into the tree, while this process holds the role.
type importing struct {
	*Service
	term  *state.Term
	merge *sources.Merge
}

func (s *Service) importing(ctx context.Context, term *state.Term) {
	var known, earlier []string
	for id, o := range s.data.Observed.All(s.data.Store.Now(), "") {
		known = append(known, id)
		earlier = append(earlier, o.Sources...)
	}
	x := &importing{s, term, sources.NewMerge(s.set.Rename, s.set.Ignore, known)}
	earlier = slices.DeleteFunc(earlier, func(name string) bool { return name == imports || name == configuration })
	following := make(chan struct{})
	go func() {
		defer close(following)
		x.merge.Follow(ctx, s.host.Switchboard, earlier)
	}()
	defer func() { <-following }()
	x.configured()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.networks:
			x.configured()
		case <-x.merge.Wake():
			for _, id := range x.merge.Take() {
				x.take(ctx, id)
			}
		}
	}
}

// configured takes in what users imported and configured.
func (x *importing) configured() {
	now := x.data.Store.Now()
	var all []topology.Topology
	for _, t := range x.data.Imported.All(now, "") {
		all = append(all, t)
	}
	x.merge.Set(imports, all)
	all = nil
	for _, n := range x.data.Networks.All(now) {
		if n.ID != netconf {
			all = append(all, x.data.network(now, n.ID))
		}
	}
	x.merge.Set(configuration, all)
}

// take stores what the sources see of a topology.
func (x *importing) take(ctx context.Context, id string) {
	err := x.store(ctx, id)
	if err != nil && ctx.Err() == nil {
		slog.Warn("a topology was not stored; it will be tried again", "topology", id, "error", err)
		x.health(sdk.Health{State: sdk.Degraded, Reason: "the topology " + id + " was not stored: " + err.Error()})
		time.AfterFunc(time.Second, func() { x.merge.Again(id) })
	}
}

// pieces bounds the nodes and links of one transaction.
const pieces = 250

func (x *importing) store(ctx context.Context, id string) error {
	now := x.data.Store.Now()
	before, _ := x.data.Observed.Get(now, id)
	seen, names, whole := x.merge.View(id, before.Sources)
	if seen == nil {
		if !whole {
			return nil
		}
		seen = &topology.Topology{}
	}
	old := x.data.Topology(now, id)
	if len(names) == 0 && (old == nil || len(old.Domains) == 0) { // no source has it, and nothing is configured
		_, err := x.term.Update(ctx, func(tx *state.Tx) error {
			x.data.Observed.Delete(tx, id)
			for range x.data.Domains.All(tx, id) {
				return nil
			}
			x.data.Topologies.Delete(tx, id)
			return nil
		})
		return err
	}
	change := model.Observe(old, *seen, whole)
	for first := true; first || len(change.PutNodes)+len(change.DelNodes)+len(change.PutLinks)+len(change.DelLinks) > 0; first = false {
		part := change.Part(pieces)
		if _, err := x.term.Update(ctx, func(tx *state.Tx) error { return x.write(tx, id, part) }); err != nil {
			return err
		}
	}
	next := observed{Sources: names, Nodes: change.Online}
	if !whole {
		next.Sources = slices.Compact(slices.Sorted(slices.Values(slices.Concat(names, before.Sources))))
	}
	_, err := x.term.Update(ctx, func(tx *state.Tx) error {
		switch was, ok := x.data.Observed.Get(tx, id); {
		case len(next.Sources) == 0:
			x.data.Observed.Delete(tx, id)
		case !ok || !slices.Equal(was.Sources, next.Sources) || !slices.Equal(was.Nodes, next.Nodes):
			return x.data.Observed.Put(tx, id, next)
		}
		return nil
	})
	return err
}

func (x *importing) write(tx *state.Tx, id string, c model.Seen) error {
	if _, ok := x.data.Topologies.Get(tx, id); !ok {
		if err := x.data.Topologies.Put(tx, map[string]string{"topology-id": id}, id); err != nil {
			return err
		}
	}
	for _, n := range c.PutNodes {
		var old *bier.Node
		if have, ok := x.data.Nodes.Get(tx, id, n.ID); ok {
			old = &have
		}
		if err := x.data.Nodes.Put(tx, model.Take(old, n), id, n.ID); err != nil {
			return err
		}
	}
	for _, l := range c.PutLinks {
		if err := x.data.Links.Put(tx, l, id, l.ID); err != nil {
			return err
		}
	}
	for _, node := range c.DelNodes {
		if have, ok := x.data.Nodes.Get(tx, id, node); ok && len(have.Params.Domains) == 0 {
			x.data.Nodes.Delete(tx, id, node)
		}
	}
	for _, link := range c.DelLinks {
		x.data.Links.Delete(tx, id, link)
	}
	return nil
}
