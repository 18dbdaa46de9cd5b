// Package channels decides what calls on channels change, and keeps the channels.
package channels

import (
	"context"
	"reflect"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// Store is the channels where they are kept, the configuration tree bier-network-channel,
// with what is needed to decide about them.
type Store struct {
	*bier.Trees
	Routers bier.Routers
	*state.Store
}

// Open follows the data until ctx ends.
func Open(ctx context.Context, h *host.Client) (*Store, error) {
	s := &Store{
		Trees:   bier.NewTrees(nil),
		Routers: bier.NewRouters(),
	}
	var err error
	s.Store, err = state.Open(ctx, h, append(s.Views(), s.Routers.Views()...)...)
	return s, err
}

// Get returns a channel, nil if it does not exist.
func (s *Store) Get(r state.Reader, topology, name string) *bier.Channel {
	if c, ok := s.Channels.Get(r, topology, name); ok {
		return &c
	}
	return nil
}

// Changed is what a change of a channel came to.
type Changed struct {
	Before, Now *bier.Channel // nil: it did not or does not exist
	// Revision is that of the channel, or of its removal.
	Revision uint64
}

// Change commits the result of decide for a channel, nil if it does not exist; it may read more
// from tx. A nil result removes the channel.
func (s *Store) Change(
	ctx context.Context,
	topology, name string,
	decide func(tx *state.Tx, have *bier.Channel) (*bier.Channel, error),
) (c Changed, err error) {
	c.Revision, err = s.Update(ctx, func(tx *state.Tx) error {
		c.Before = s.Get(tx, topology, name)
		var err error
		if c.Now, err = decide(tx, c.Before); err != nil {
			return err
		}
		if c.Now == nil {
			s.Channels.Delete(tx, topology, name)
			return nil
		}
		return s.Channels.Put(tx, c.Now, topology, name)
	})
	if err == nil && c.Now != nil { // one that stays as it is was written earlier
		at := s.Channels.Revision(s.Now(), topology, name)
		if at != 0 && at < c.Revision {
			c.Revision = at
		}
	}
	return c, err
}

// Check refuses changes of the tree by others that break a rule; see sdk.Plugin.
func (s *Store) Check(_ context.Context, tx *state.Tx) error {
	now := s.Now()
	var l fault.List
	for path, c := range s.Channels.All(tx.Snapshot()) {
		keys := s.Channels.Keys(path)
		before := s.Get(now, keys[0], keys[1])
		if reflect.DeepEqual(before, &c) {
			continue
		}
		err := Check(before, &c, keys[0], s.Topology(tx, keys[0]), s.ChannelsIn(tx, keys[0]))
		if err != nil {
			l = append(l, fault.At(fault.Invalid, path, "%v", err))
		}
	}
	return l.Err()
}
