package plugintest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// store is a datastore in memory that keeps its whole history.
type store struct {
	mu      sync.Mutex
	spaces  map[string]map[string]*pluginv1.Entry
	history []change
	changed chan struct{}
}

type change struct {
	space  string
	events []*pluginv1.WatchEvent
}

func newStore() *store {
	return &store{spaces: map[string]map[string]*pluginv1.Entry{}, changed: make(chan struct{})}
}

func (s *store) revision() uint64 { return uint64(len(s.history)) }

func (s *store) get(space, key string) *pluginv1.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spaces[space][key]
}

func (s *store) scan(space string, r *pluginv1.RangeRequest) *pluginv1.RangeResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &pluginv1.RangeResponse{Revision: s.revision()}
	for _, k := range slices.Sorted(maps.Keys(s.spaces[space])) {
		if strings.HasPrefix(k, r.Prefix) && k > r.After && (r.Limit <= 0 || len(out.Entries) < int(r.Limit)) {
			out.Entries = append(out.Entries, s.spaces[space][k])
		}
	}
	return out
}

func (s *store) commit(space string, r *pluginv1.CommitRequest) *pluginv1.CommitResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.Compares {
		if s.spaces[space][c.Key].GetRevision() != c.Revision {
			return &pluginv1.CommitResponse{Conflict: true}
		}
	}
	rev := s.revision() + 1
	m := s.spaces[space]
	if m == nil {
		m = map[string]*pluginv1.Entry{}
		s.spaces[space] = m
	}
	var events []*pluginv1.WatchEvent
	remove := func(key string) {
		if _, ok := m[key]; ok {
			delete(m, key)
			events = append(events, &pluginv1.WatchEvent{Entry: &pluginv1.Entry{Key: key, Revision: rev}, Deleted: true})
		}
	}
	for _, o := range r.Ops {
		switch {
		case o.DeletePrefix:
			for _, k := range slices.Sorted(maps.Keys(m)) {
				if strings.HasPrefix(k, o.Key) {
					remove(k)
				}
			}
		case o.Delete:
			remove(o.Key)
		default:
			m[o.Key] = &pluginv1.Entry{Key: o.Key, Value: o.Value, Revision: rev}
			events = append(events, &pluginv1.WatchEvent{Entry: m[o.Key]})
		}
	}
	s.history = append(s.history, change{space, events})
	close(s.changed)
	s.changed = make(chan struct{})
	return &pluginv1.CommitResponse{Revision: rev}
}

func (s *store) watch(ctx context.Context, space, prefix string, after uint64, send func(*pluginv1.WatchResponse) error) error {
	s.mu.Lock()
	if after == 0 {
		after = s.revision()
	}
	s.mu.Unlock()
	for {
		s.mu.Lock()
		changed := s.changed
		news := s.history[min(after, s.revision()):]
		s.mu.Unlock()
		for _, c := range news {
			after++
			m := &pluginv1.WatchResponse{Revision: after}
			for _, e := range c.events {
				if c.space == space && strings.HasPrefix(e.Entry.Key, prefix) {
					m.Events = append(m.Events, e)
				}
			}
			if len(m.Events) > 0 {
				if err := send(m); err != nil {
					return err
				}
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type datastoreServer struct {
	pluginv1.UnimplementedHostDatastoreServer
	h *Host
}

// space names the keys that a plugin means and refuses what the real host refuses.
func space(ctx context.Context, s pluginv1.Space, write bool, keys ...string) (string, error) {
	m := guestOf(ctx).manifest
	switch s {
	case pluginv1.Space_SPACE_PRIVATE:
		return "private/" + m.GetName(), nil
	case pluginv1.Space_SPACE_OPERATIONAL:
		for _, k := range keys {
			if !slices.ContainsFunc(m.GetPublishes(), func(tree string) bool {
				rest, ok := strings.CutPrefix(k, tree)
				return ok && (rest == "" || rest[0] == '/' || rest[0] == '=')
			}) {
				return "", fault.At(fault.Denied, k, "the manifest does not list this tree under `publishes`")
			}
		}
		return "operational", nil
	case pluginv1.Space_SPACE_CONFIG:
		if write && m.GetName() != "" {
			return "", fault.New(fault.Denied, "the configuration is written by its owners, over RESTCONF; plugins read it")
		}
		return "config", nil
	}
	return "", fault.New(fault.Invalid, "unknown space %d", s)
}

func (d *datastoreServer) Get(ctx context.Context, r *pluginv1.GetRequest) (*pluginv1.GetResponse, error) {
	sp, err := space(ctx, r.Space, false, r.Key)
	if err != nil {
		return nil, err
	}
	return &pluginv1.GetResponse{Entry: d.h.store.get(sp, r.Key)}, nil
}

func (d *datastoreServer) Range(r *pluginv1.RangeRequest, out grpc.ServerStreamingServer[pluginv1.RangeResponse]) error {
	sp, err := space(out.Context(), r.Space, false, r.Prefix)
	if err != nil {
		return err
	}
	return out.Send(d.h.store.scan(sp, r))
}

func (d *datastoreServer) Commit(ctx context.Context, r *pluginv1.CommitRequest) (*pluginv1.CommitResponse, error) {
	var keys []string
	for _, o := range r.Ops {
		keys = append(keys, o.Key)
	}
	sp, err := space(ctx, r.Space, true, keys...)
	if err != nil {
		return nil, err
	}
	return d.h.store.commit(sp, r), nil
}

func (d *datastoreServer) Watch(r *pluginv1.WatchRequest, out grpc.ServerStreamingServer[pluginv1.WatchResponse]) error {
	sp, err := space(out.Context(), r.Space, false, r.Prefix)
	if err != nil {
		return err
	}
	return d.h.store.watch(out.Context(), sp, r.Prefix, r.After, out.Send)
}
