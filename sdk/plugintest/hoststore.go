package plugintest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// store is a datastore in memory that keeps its whole history. Keys are "SPACE\x00key".
// It checks no YANG and keeps an instance of a tree as one document. It is under Host.mu.
type store struct {
	entries map[string]*pluginv1.Entry
	history [][]event
}

// event is one change.
type event struct {
	at    string
	entry *pluginv1.Entry
	gone  bool
}

func (s *store) revision() uint64 {
	return uint64(len(s.history))
}

// entriesUnder lists the entries whose places begin so, in order.
func (s *store) entriesUnder(at string) (out []*pluginv1.Entry) {
	for _, k := range slices.Sorted(maps.Keys(s.entries)) {
		if strings.HasPrefix(k, at) {
			out = append(out, s.entries[k])
		}
	}
	return out
}

// compareConflict is what keeps a commit under a condition about a place from being applied, nil = nothing.
func (s *store) compareConflict(index int, at string, c *pluginv1.Compare) *pluginv1.Conflict {
	have := s.entries[at].GetRevision()
	if !c.Prefix && have != c.Revision {
		return &pluginv1.Conflict{
			Index:    int32(index),
			Key:      c.Key,
			Revision: have,
		}
	}
	for _, e := range s.entriesUnder(at) {
		if c.Prefix && e.Revision > c.Revision {
			return &pluginv1.Conflict{
				Index:    int32(index),
				Key:      e.Key,
				Revision: e.Revision,
			}
		}
	}
	return nil
}

// write is an op with its place.
type write struct {
	at string
	*pluginv1.Op
}

// commitWrites applies writes and returns their revision. The caller holds mu.
func (h *Host) commitWrites(ops []write) uint64 {
	s := &h.store
	rev := s.revision() + 1
	var events []event
	remove := func(match func(string) bool) {
		for _, k := range slices.Sorted(maps.Keys(s.entries)) {
			if match(k) {
				events = append(
					events,
					event{k, &pluginv1.Entry{
						Key:      s.entries[k].Key,
						Revision: rev,
					}, true},
				)
				delete(s.entries, k)
			}
		}
	}
	for _, o := range ops {
		tree := o.Space == pluginv1.Space_SPACE_TREE || o.Space == pluginv1.Space_SPACE_OPERATIONAL
		switch {
		case o.DeletePrefix:
			remove(func(k string) bool { return strings.HasPrefix(k, o.at) })
			continue
		case tree:
			remove(func(k string) bool {
				return strings.HasPrefix(k, o.at+"/") || o.Delete && k == o.at
			})
		case o.Delete:
			remove(func(k string) bool { return k == o.at })
		}
		if !o.Delete {
			e := &pluginv1.Entry{
				Key:      o.Key,
				Value:    o.Value,
				Revision: rev,
			}
			s.entries[o.at] = e
			events = append(events, event{o.at, e, false})
		}
	}
	s.history = append(s.history, events)
	h.wakeWaiters()
	return rev
}

type datastoreServer struct {
	pluginv1.UnimplementedHostDatastoreServer
	h *Host
}

// resolvePlace names the place of a key and refuses what the real host refuses. A client without
// a manifest is the controller itself.
func resolvePlace(
	ctx context.Context,
	s pluginv1.Space,
	owner, key string,
	write bool,
) (string, error) {
	m := guestOf(ctx).manifest
	under := func(trees []string) bool {
		return m.GetName() == "" || slices.ContainsFunc(trees, func(tree string) bool {
			rest, ok := strings.CutPrefix(
				strings.TrimPrefix(key, "/"),
				strings.TrimPrefix(tree, "/"),
			)
			return ok && (rest == "" || rest[0] == '/' || rest[0] == '=')
		})
	}
	switch s {
	case pluginv1.Space_SPACE_PRIVATE:
		return "private/" + m.GetName() + "\x00" + key, nil
	case pluginv1.Space_SPACE_OPERATIONAL:
		if !under(m.GetPublishes()) {
			return "", fault.At(
				fault.Denied,
				key,
				"the manifest does not list this tree under `publishes`",
			)
		}
		return "operational\x00" + key, nil
	case pluginv1.Space_SPACE_TREE:
		if write && !under(m.GetOwns()) {
			return "", fault.At(
				fault.Denied,
				key,
				"the manifest does not list this tree under `owns`, so the plugin cannot write it",
			)
		}
		return "tree\x00" + key, nil
	case pluginv1.Space_SPACE_SHARED:
		if write || !slices.ContainsFunc(m.GetReads(), func(r string) bool {
			plugin, prefix, ok := strings.Cut(r, ":")
			return ok && plugin == owner && strings.HasPrefix(key, prefix)
		}) {
			return "", fault.At(
				fault.Denied,
				key,
				"the manifest does not list %s:%s under `reads`",
				owner,
				key,
			)
		}
		return "private/" + owner + "\x00" + key, nil
	}
	return "", fault.New(fault.Invalid, "unknown space %d", s)
}

func (d *datastoreServer) Get(
	ctx context.Context,
	r *pluginv1.GetRequest,
) (*pluginv1.GetResponse, error) {
	at, err := resolvePlace(ctx, r.Space, r.Plugin, r.Key, false)
	if err != nil {
		return nil, err
	}
	d.h.mu.Lock()
	defer d.h.mu.Unlock()
	return &pluginv1.GetResponse{Entry: d.h.store.entries[at]}, nil
}

func (d *datastoreServer) Range(
	r *pluginv1.RangeRequest,
	out grpc.ServerStreamingServer[pluginv1.RangeResponse],
) error {
	at, err := resolvePlace(out.Context(), r.Space, r.Plugin, r.Prefix, false)
	if err != nil {
		return err
	}
	d.h.mu.Lock()
	res := &pluginv1.RangeResponse{
		Entries:  d.h.store.entriesUnder(at),
		Revision: d.h.store.revision(),
	}
	d.h.mu.Unlock()
	res.Entries = slices.DeleteFunc(res.Entries, func(e *pluginv1.Entry) bool {
		return e.Key <= r.After
	})
	if r.Limit > 0 {
		res.Entries = res.Entries[:min(len(res.Entries), int(r.Limit))]
	}
	return out.Send(res)
}

func (d *datastoreServer) Commit(
	ctx context.Context,
	r *pluginv1.CommitRequest,
) (*pluginv1.CommitResponse, error) {
	places := make([]string, len(r.Compares))
	for i, c := range r.Compares {
		var err error
		if places[i], err = resolvePlace(ctx, c.Space, c.Plugin, c.Key, false); err != nil {
			return nil, err
		}
	}
	var ops []write
	for _, o := range r.Ops {
		at, err := resolvePlace(ctx, o.Space, "", o.Key, true)
		if err != nil {
			return nil, err
		}
		ops = append(ops, write{at, o})
	}
	if guestOf(ctx).manifest == nil {
		more, err := d.h.checkTreeOwners(ctx, r.Ops)
		if err != nil {
			return nil, err
		}
		ops = append(ops, more...)
	}
	d.h.mu.Lock()
	defer d.h.mu.Unlock()
	if r.Role != "" && d.h.roles[r.Role] != guestOf(ctx) {
		return nil, fault.New(fault.Denied, "this process does not hold the role %s", r.Role)
	}
	for i, c := range r.Compares {
		if lost := d.h.store.compareConflict(i, places[i], c); lost != nil {
			return &pluginv1.CommitResponse{Conflict: lost}, nil
		}
	}
	return &pluginv1.CommitResponse{Revision: d.h.commitWrites(ops)}, nil
}

// checkTreeOwners asks the owners of trees about a change that the controller makes for a user, and
// returns the writes they add.
func (h *Host) checkTreeOwners(ctx context.Context, ops []*pluginv1.Op) (more []write, err error) {
	h.mu.Lock()
	owners := map[*guest]*pluginv1.CheckRequest{}
	for _, g := range h.plugins {
		for _, o := range ops {
			if o.Space != pluginv1.Space_SPACE_TREE ||
				g.conn == nil ||
				!slices.ContainsFunc(append(g.manifest.GetOwns(), g.manifest.GetDerives()...), func(tree string) bool {
					return strings.HasPrefix(o.Key, tree)
				}) {
				continue
			}
			if owners[g] == nil {
				owners[g] = &pluginv1.CheckRequest{Revision: h.store.revision()}
			}
			owners[g].Changes = append(
				owners[g].Changes,
				&pluginv1.DocumentChange{
					Key:     o.Key,
					Value:   o.Value,
					Deleted: o.Delete,
				},
			)
		}
	}
	h.mu.Unlock()
	for g, q := range owners {
		res, err := pluginv1.NewTreesClient(g.conn).Check(ctx, q)
		if err != nil {
			return nil, fault.FromStatus(err)
		}
		for _, o := range res.Ops {
			at := "private/" + g.manifest.Name + "\x00"
			if o.Space == pluginv1.Space_SPACE_TREE {
				at = "tree\x00"
			}
			more = append(more, write{at + o.Key, o})
		}
	}
	return more, nil
}

func (d *datastoreServer) Follow(
	r *pluginv1.FollowRequest,
	out grpc.ServerStreamingServer[pluginv1.FollowResponse],
) error {
	var at []string
	for _, p := range r.Prefixes {
		place, err := resolvePlace(out.Context(), p.Space, p.Plugin, p.Prefix, false)
		if err != nil {
			return err
		}
		at = append(at, place)
	}
	list := &pluginv1.FollowEntries{}
	d.h.mu.Lock()
	for i, p := range at {
		for _, e := range d.h.store.entriesUnder(p) {
			list.Entries = append(list.Entries, &pluginv1.FollowEntry{
				Prefix: int32(i),
				Entry:  e,
			})
		}
	}
	after := d.h.store.revision()
	d.h.mu.Unlock()
	err := out.Send(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Entries{Entries: list}})
	if err != nil {
		return err
	}
	if err := out.Send(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Synced{Synced: after}}); err != nil {
		return err
	}
	for {
		var news [][]event
		err := d.h.waitUntil(out.Context(), func() bool {
			news = d.h.store.history[after:]
			return len(news) > 0
		})
		if err != nil {
			return err
		}
		for _, events := range news {
			after++
			b := &pluginv1.FollowBatch{Revision: after}
			for _, e := range events {
				for i, p := range at {
					if strings.HasPrefix(e.at, p) {
						b.Events = append(
							b.Events,
							&pluginv1.FollowEntry{
								Prefix:  int32(i),
								Entry:   e.entry,
								Deleted: e.gone,
							},
						)
					}
				}
			}
			err := out.Send(&pluginv1.FollowResponse{Step: &pluginv1.FollowResponse_Batch{Batch: b}})
			if err != nil {
				return err
			}
		}
	}
}

func (d *datastoreServer) Barrier(
	context.Context,
	*pluginv1.BarrierRequest,
) (*pluginv1.BarrierResponse, error) {
	d.h.mu.Lock()
	defer d.h.mu.Unlock()
	return &pluginv1.BarrierResponse{Revision: d.h.store.revision()}, nil
}
