package channels

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Store keeps the channels. It is safe for concurrent use.
type Store struct {
	data *host.Datastore
	// Changed is sent to when a channel changed.
	Changed chan struct{}

	write    sync.Mutex // held from decision to memory
	mu       sync.RWMutex
	first    uint64 // revision of the start
	revision uint64
	changed  map[string]map[string]uint64        // topology-id → name → revision of the last change, removals included
	channels map[string]map[string]*bier.Channel // topology-id → name; values are never changed
}

// NewStore returns an empty store.
func NewStore(data *host.Datastore) *Store {
	now := uint64(time.Now().UnixNano()) // others must not take it for one of the process before
	return &Store{data: data, Changed: make(chan struct{}, 1), channels: map[string]map[string]*bier.Channel{},
		changed: map[string]map[string]uint64{}, first: now, revision: now}
}

// key is "channel/T/NAME", both escaped as in URLs.
func key(topology, name string) string {
	return "channel/" + url.PathEscape(topology) + "/" + url.PathEscape(name)
}

// Load reads what was kept.
func (s *Store) Load(ctx context.Context) error {
	for e, err := range s.data.Range(ctx, host.Private, "channel/") {
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(e.Key, "channel/"), "/")
		topology, err := url.PathUnescape(first)
		c := &bier.Channel{}
		if err == nil {
			err = json.Unmarshal(e.Value, c)
		}
		if err != nil {
			slog.Warn("a BIER channel is left out: it cannot be read", "key", e.Key, "err", err)
			continue
		}
		s.put(topology, c.Name, c)
	}
	return nil
}

// put changes the memory.
func (s *Store) put(topology, name string, c *bier.Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	if s.changed[topology] == nil {
		s.changed[topology] = map[string]uint64{}
	}
	s.changed[topology][name] = s.revision
	select {
	case s.Changed <- struct{}{}:
	default:
	}
	if c == nil {
		delete(s.channels[topology], name)
		return
	}
	if s.channels[topology] == nil {
		s.channels[topology] = map[string]*bier.Channel{}
	}
	s.channels[topology][name] = c
}

// Do lets decide look at a channel, nil if there is none, and at all of its
// topology, and keeps what it returns, nil to remove the channel.
func (s *Store) Do(ctx context.Context, topology, name string, decide func(have *bier.Channel, others []bier.Channel) (*bier.Channel, error)) error {
	s.write.Lock()
	defer s.write.Unlock()
	have := s.Get(topology, name)
	c, err := decide(have, s.List(topology))
	if err != nil || c == nil && have == nil {
		return err
	}
	op := host.Op{Key: key(topology, name), Delete: c == nil}
	if c != nil {
		if op.Value, err = json.Marshal(c); err != nil {
			return fault.Wrap(fault.Internal, err, "channel %s cannot be encoded", name)
		}
	}
	if _, err := s.data.Commit(ctx, host.Private, host.Txn{Ops: []host.Op{op}}); err != nil {
		if fault.KindOf(err) == fault.InUse { // of the datastore, not of the channel
			return fault.New(fault.Unavailable, "channel %s was not stored: %v", name, err)
		}
		return err
	}
	s.put(topology, name, c)
	return nil
}

// Get returns a channel, nil if there is none. Do not change it.
func (s *Store) Get(topology, name string) *bier.Channel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.channels[topology][name]
}

// List returns the channels of a topology in the order of their names.
func (s *Store) List(topology string) []bier.Channel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return list(s.channels[topology])
}

func list(in map[string]*bier.Channel) []bier.Channel {
	out := make([]bier.Channel, 0, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		out = append(out, *in[name])
	}
	return out
}

// Topologies lists the topologies that have channels, ascending.
func (s *Store) Topologies() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.channels))
}

// View returns all channels, nothing when have is the newest revision.
func (s *Store) View(have uint64) bier.ChannelView {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := bier.ChannelView{Revision: s.revision}
	if have != s.revision {
		out.Channels = &bier.Channels{ByTopology: map[string][]bier.Channel{}}
		for t := range s.channels {
			out.Channels.ByTopology[t] = list(s.channels[t])
		}
	}
	return out
}

// Since returns what changed after a revision, and all channels where that is not
// known: the revision is none of this process.
func (s *Store) Since(have uint64) bier.ChannelView {
	s.mu.RLock()
	if have < s.first || have > s.revision {
		s.mu.RUnlock()
		return s.View(0)
	}
	defer s.mu.RUnlock()
	out := bier.ChannelView{Revision: s.revision}
	if have == s.revision {
		return out
	}
	out.Changes = &bier.Changes{ByTopology: map[string][]bier.Channel{}, Removed: map[string][]string{}}
	for t, names := range s.changed {
		for name, at := range names {
			switch c := s.channels[t][name]; {
			case at <= have:
			case c == nil:
				out.Changes.Removed[t] = append(out.Changes.Removed[t], name)
			default:
				out.Changes.ByTopology[t] = append(out.Changes.ByTopology[t], *c)
			}
		}
	}
	return out
}

// Snapshot returns all channels by topology-id and name. They must not be changed.
func (s *Store) Snapshot() map[string]map[string]*bier.Channel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make(map[string]map[string]*bier.Channel, len(s.channels))
	for t, all := range s.channels {
		out[t] = maps.Clone(all)
	}
	return out
}
