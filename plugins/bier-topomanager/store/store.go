package store

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Keys: "topology/T", "node/T/N" and "link/T/L", ids escaped as in URLs.
const (
	topologyKey = "topology/"
	nodeKey     = "node/"
	linkKey     = "link/"
)

// Store is the topologies. It is safe for concurrent use.
type Store struct {
	data *host.Datastore
	told func(*model.Change)

	write sync.Mutex // held from decision to memory
	mu    sync.RWMutex
	model *model.Model
	views map[string]view
}

// view is a rendered topology of a revision.
type view struct {
	of   *model.Topology
	at   uint64
	data bier.Topology
}

// New returns an empty store; told gets each change after it was made, in order.
func New(data *host.Datastore, told func(*model.Change)) *Store {
	s := &Store{data: data, told: told, model: model.New(), views: map[string]view{}}
	s.model.Revision = uint64(time.Now().UnixNano()) // others must not take it for one of the process before
	return s
}

// Load reads what was kept.
func (s *Store) Load(ctx context.Context) error {
	changes := map[string]*model.Change{}
	at := func(id string) *model.Change {
		if changes[id] == nil {
			changes[id] = &model.Change{Topology: id}
		}
		return changes[id]
	}
	for e, err := range s.data.Range(ctx, host.Private, "") {
		if err != nil {
			return err
		}
		if err := read(e, at); err != nil {
			slog.Warn("an entry of the BIER topologies is left out: it cannot be read", "key", e.Key, "err", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		if c.Domains != nil { // else the topology itself went, and a crash left the rest
			s.model.Apply(c)
		}
	}
	return nil
}

func read(e host.Entry, at func(string) *model.Change) error {
	kind, rest, _ := strings.Cut(e.Key, "/")
	first, _, _ := strings.Cut(rest, "/")
	id, err := url.PathUnescape(first)
	if err != nil {
		return err
	}
	switch kind + "/" {
	case topologyKey:
		c := at(id)
		c.Domains = map[uint16][]bier.SubDomainRef{}
		return json.Unmarshal(e.Value, &c.Domains)
	case nodeKey:
		n := &bier.Node{}
		if err := json.Unmarshal(e.Value, n); err != nil {
			return err
		}
		at(id).PutNodes = append(at(id).PutNodes, n)
	case linkKey:
		l := &bier.Link{}
		if err := json.Unmarshal(e.Value, l); err != nil {
			return err
		}
		at(id).PutLinks = append(at(id).PutLinks, l)
	}
	return nil
}

// Do lets decide look at the model and makes the change it returns.
func (s *Store) Do(ctx context.Context, decide func(*model.Model) (*model.Change, error)) (*model.Change, error) {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := decide(s.model)
	if err != nil || c.Empty() {
		return c, err
	}
	ops, err := operations(c)
	if err != nil {
		return nil, err
	}
	if len(ops) > 0 {
		if _, err := s.data.Commit(ctx, host.Private, host.Txn{Ops: ops}); err != nil {
			return nil, fault.Wrap(fault.KindOf(err), err, "the change was not stored: %v", err)
		}
	}
	s.mu.Lock()
	s.model.Apply(c)
	s.mu.Unlock()
	s.told(c)
	return c, nil
}

func operations(c *model.Change) ([]host.Op, error) {
	t := url.PathEscape(c.Topology)
	if c.Gone {
		return []host.Op{{Key: topologyKey + t, Delete: true}, {Key: nodeKey + t + "/", DeletePrefix: true}, {Key: linkKey + t + "/", DeletePrefix: true}}, nil
	}
	var ops []host.Op
	put := func(key string, v any) error {
		raw, err := json.Marshal(v)
		ops = append(ops, host.Op{Key: key, Value: raw})
		return err
	}
	if c.Domains != nil {
		if err := put(topologyKey+t, c.Domains); err != nil {
			return nil, err
		}
	}
	for _, n := range c.PutNodes {
		if err := put(nodeKey+t+"/"+url.PathEscape(n.ID), n); err != nil {
			return nil, err
		}
	}
	for _, l := range c.PutLinks {
		if err := put(linkKey+t+"/"+url.PathEscape(l.ID), l); err != nil {
			return nil, err
		}
	}
	for _, id := range c.DelNodes {
		ops = append(ops, host.Op{Key: nodeKey + t + "/" + url.PathEscape(id), Delete: true})
	}
	for _, id := range c.DelLinks {
		ops = append(ops, host.Op{Key: linkKey + t + "/" + url.PathEscape(id), Delete: true})
	}
	return ops, nil
}

// Look lets f read the model. It must keep nothing that is not immutable.
func (s *Store) Look(f func(*model.Model) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return f(s.model)
}

// SettledViews is Views behind the changes that are decided at this moment.
func (s *Store) SettledViews(id string) (uint64, []bier.Topology, error) {
	s.write.Lock()
	defer s.write.Unlock()
	return s.Views(id)
}

// Views returns topologies as module bier-topology shows them, all of one revision.
// Do not change them. An empty id asks for all.
func (s *Store) Views(id string) (uint64, []bier.Topology, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := []string{id}
	if id == "" {
		ids = s.model.IDs()
	}
	out := []bier.Topology{}
	for _, id := range ids {
		t, err := s.model.Get(id)
		if err != nil {
			return 0, nil, err
		}
		v, ok := s.views[id]
		if !ok || v.of != t || v.at != s.model.Revision {
			v = view{t, s.model.Revision, t.View()}
			s.views[id] = v
		}
		out = append(out, v.data)
	}
	return s.model.Revision, out, nil
}
