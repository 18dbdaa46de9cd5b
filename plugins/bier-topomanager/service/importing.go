package service

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/sources"
	"ctl.internal/sdk"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// importing takes what plugins that are sources see into the tree, while this process holds
// the role. What they see may be behind what is there; what users configure and import is not:
// it is derived where it is written (derive.go).
type importing struct {
	*Service
	term  *state.Term
	merge *sources.Merge
}

func (s *Service) runImporting(ctx context.Context, term *state.Term) {
	var known, earlier []string
	now := s.data.Store.Now()
	for id := range s.data.Observed.All(now, "") {
		known = append(known, id)
		earlier = append(earlier, s.data.readObserved(now, id).Sources...)
	}
	x := &importing{s, term, sources.NewMerge(s.set.Rename, s.set.Ignore, known)}
	following := make(chan struct{})
	go func() {
		defer close(following)
		x.merge.Follow(ctx, s.host.Switchboard, earlier)
	}()
	defer func() { <-following }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.merge.Wake():
			for _, id := range x.merge.Take() {
				x.tryStore(ctx, id)
			}
		}
	}
}

// tryStore stores what the sources see of a topology.
func (x *importing) tryStore(ctx context.Context, id string) {
	err := x.storeTopology(ctx, id)
	if err != nil && ctx.Err() == nil {
		slog.Warn("a topology was not stored; it will be tried again", "topology", id, "error", err)
		x.health(sdk.Health{
			State:  sdk.Degraded,
			Reason: "the topology " + id + " was not stored: " + err.Error(),
		})
		time.AfterFunc(time.Second, func() { x.merge.Again(id) })
	}
}

// storeTopology writes what the sources see now, and what is derived from it with what users
// configured and imported, as one change.
func (x *importing) storeTopology(ctx context.Context, id string) error {
	_, err := x.term.Update(ctx, func(tx *state.Tx) error {
		before := x.data.readObserved(tx, id)
		seen, names, whole := x.merge.View(id, before.Sources)
		kept := observed{}
		if !whole { // the rest is heard later
			kept = before
		}
		next := seenBy(names, seen).mergeWith(kept)
		err := x.data.deriveTopology(tx, id, given{
			of:   parts{all: true},
			seen: seen,
			kept: kept,
		})
		if err != nil {
			return err
		}
		was, there := x.data.Observed.Get(tx, id)
		switch {
		case kept.all: // what it has is written when all of them were heard
		case len(next.Sources) == 0 && there:
			x.data.Observed.Delete(tx, id)
		case len(next.Sources) > 0 && !(slices.Equal(was.Sources, next.Sources) && slices.Equal(was.Nodes, next.Nodes) && slices.Equal(was.Links, next.Links)):
			return x.data.Observed.Put(tx, id, next)
		}
		return nil
	})
	return err
}

// seenBy is what sources see of a topology, by the ids here.
func seenBy(names []string, t *topology.Topology) observed {
	o := observed{
		Sources: names,
		Nodes:   []string{},
		Links:   []string{},
	}
	if t == nil {
		return o
	}
	for n := range t.Nodes {
		o.Nodes = append(o.Nodes, bier.ShortID(n))
	}
	for l := range t.Links {
		o.Links = append(o.Links, bier.ShortID(l))
	}
	return o
}

// mergeWith adds what others may still see, and puts all in order.
func (o observed) mergeWith(other observed) observed {
	union := func(a, b []string) []string {
		all := map[string]bool{}
		for _, s := range append(slices.Clone(a), b...) {
			all[s] = true
		}
		return slices.AppendSeq(make([]string, 0, len(all)), maps.Keys(all))
	}
	out := observed{
		Sources: union(o.Sources, other.Sources),
		Nodes:   union(o.Nodes, other.Nodes),
		Links:   union(o.Links, other.Links),
	}
	slices.Sort(out.Sources)
	slices.Sort(out.Nodes)
	slices.Sort(out.Links)
	return out
}
