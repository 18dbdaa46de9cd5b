// Package state is the data of a plugin: the datastore holds the truth, the plugin a
// projection of it in memory, which only the datastore's own changes move. A plugin
// declares what it follows (Table, Tree), opens a Store, reads from snapshots and writes
// by Update, which decides on a snapshot, commits under the condition that what was read
// has not changed, decides again after a conflict, and returns when the projection has
// the write. On start, reload, and whenever the host lost the thread, the projection is
// built from a snapshot by the same code.
//
//	hosts := state.NewTable[Host](state.Private("host/"))
//	store, err := state.Open(ctx, env.Host, hosts)
//	...
//	_, err = store.Update(ctx, func(tx *state.Tx) error {
//		if _, ok := hosts.Get(tx, name); ok {
//			return fault.New(fault.Exists, "there is a host %s", name)
//		}
//		return hosts.Put(tx, name, Host{...})
//	})
//
// What must be done by one process among all nodes (configure a router, poll a switch)
// runs in Store.Role, and commits by its Term, so that a process that lost the role
// cannot write any more.
package state

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Private is a prefix of the plugin's own keys.
func Private(prefix string) host.Prefix {
	return host.Prefix{Space: host.Private, Prefix: prefix}
}

// Shared is a prefix of another plugin's keys; that plugin exports it, and the manifest
// of this one lists "PLUGIN:prefix" under `reads`.
func Shared(plugin, prefix string) host.Prefix {
	return host.Prefix{
		Space:  host.Shared,
		Plugin: plugin,
		Prefix: prefix,
	}
}

// View is a part of the projection: a *Table or a *Tree.
type View interface {
	prefix() host.Prefix
	bindIndex(index int)
	emptyPart() any
	// apply returns the part after some events; whole says that they are all of it.
	applyEvents(part any, events []host.Event) (after any, changed []string)
	notifyChanged(keys []string)
}

// followed is what a Table and a Tree have in common: what they follow, and where their part
// of a snapshot is.
type followed struct {
	at     host.Prefix
	index  int
	notify func(keys []string)
}

// Notify has f called after each change with the keys of a Table, or the paths of a Tree,
// that changed, nil for all of them. It must not wait. Call it before Open.
func (f *followed) Notify(changed func(keys []string)) {
	f.notify = changed
}

func (f *followed) prefix() host.Prefix { return f.at }
func (f *followed) bindIndex(index int) { f.index = index }
func (f *followed) notifyChanged(keys []string) {
	if f.notify != nil {
		f.notify(keys)
	}
}

// Store is the projection of a plugin. It is safe for concurrent use.
type Store struct {
	host  *host.Client
	views []View
	// What is followed, and which of it is for a view: several views may be made of the
	// same documents.
	prefixes []host.Prefix
	source   []int // by view

	now      atomic.Pointer[Snapshot]
	mu       sync.Mutex
	moved    chan struct{} // closed and replaced when now changes
	ended    chan struct{} // closed when nothing is followed any more
	deciding sync.RWMutex  // held alone by an Update that lost a conflict
}

// Snapshot is the projection at one revision. It never changes.
type Snapshot struct {
	revision uint64
	parts    []any
}

// Revision of the snapshot.
func (s *Snapshot) Revision() uint64 { return s.revision }

func (s *Snapshot) partAt(index int) any {
	return s.parts[index]
}
func (s *Snapshot) recordRead(host.Prefix, string, uint64) {}
func (s *Snapshot) readAll(host.Prefix, string)            {}

// Reader is what tables are read from: a *Snapshot, or a *Tx, which remembers what was
// read as a condition of its commit.
type Reader interface {
	partAt(index int) any
	recordRead(p host.Prefix, key string, revision uint64)
	readAll(p host.Prefix, key string)
}

// openTime bounds how long Open waits for the first state.
const openTime = 20 * time.Second

// Open follows what the views say and returns when all of it is there. The projection
// lives until ctx ends. Calls of the host that carry a revision wait for it from then on.
func Open(ctx context.Context, h *host.Client, views ...View) (*Store, error) {
	s := &Store{
		host:  h,
		views: views,
		moved: make(chan struct{}),
		ended: make(chan struct{}),
	}
	for i, v := range views {
		v.bindIndex(i)
		at := slices.Index(s.prefixes, v.prefix())
		if at < 0 {
			at = len(s.prefixes)
			s.prefixes = append(s.prefixes, v.prefix())
		}
		s.source = append(s.source, at)
	}
	go func() {
		defer close(s.ended)
		s.followChanges(ctx)
	}()
	first, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if err := s.WaitUntil(first, func(n *Snapshot) bool { return true }); err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the plugin's data was not received from the controller within %s: %v",
			openTime,
			err,
		)
	}
	h.SetProjection(s)
	return s, nil
}

// followChanges keeps the projection until ctx ends.
func (s *Store) followChanges(ctx context.Context) {
	pause := 50 * time.Millisecond
	for ctx.Err() == nil {
		began := time.Now()
		err := s.host.Datastore.Follow(ctx, s.prefixes, follower{s})
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > time.Minute {
			pause = 50 * time.Millisecond
		}
		slog.Warn("the plugin's data is not followed; trying again", "error", err, "in", pause)
		host.Pause(ctx, pause+time.Duration(rand.Int64N(int64(pause))))
		pause = min(2*pause, 2*time.Second)
	}
}

type follower struct{ s *Store }

// Reset implements host.Follower: whatever is not among the entries is gone.
func (f follower) Reset(revision uint64, entries []host.Event) error {
	old := f.s.now.Load()
	if old != nil && revision < old.revision {
		return fault.New(
			fault.Internal,
			"the state went back from revision %d to %d",
			old.revision,
			revision,
		)
	}
	next := &Snapshot{
		revision: revision,
		parts:    make([]any, len(f.s.views)),
	}
	for i, v := range f.s.views {
		next.parts[i], _ = v.applyEvents(v.emptyPart(), eventsOfPrefix(entries, f.s.source[i]))
	}
	f.s.publishSnapshot(next)
	for _, v := range f.s.views {
		v.notifyChanged(nil)
	}
	return nil
}

// Apply implements host.Follower.
func (f follower) Apply(revision uint64, events []host.Event) error {
	old := f.s.now.Load()
	if revision < old.revision || revision == old.revision && len(events) > 0 {
		return fault.New(fault.Internal, "revision %d came after %d", revision, old.revision)
	}
	next := &Snapshot{revision: revision, parts: old.parts}
	var changes [][]string
	if len(events) > 0 {
		next.parts = append([]any(nil), old.parts...)
		changes = make([][]string, len(f.s.views))
		for i, v := range f.s.views {
			if mine := eventsOfPrefix(events, f.s.source[i]); len(mine) > 0 {
				next.parts[i], changes[i] = v.applyEvents(old.parts[i], mine)
			}
		}
	}
	f.s.publishSnapshot(next)
	for i, keys := range changes {
		if len(keys) > 0 {
			f.s.views[i].notifyChanged(keys)
		}
	}
	return nil
}

func eventsOfPrefix(events []host.Event, index int) []host.Event {
	var out []host.Event
	for _, e := range events {
		if e.Prefix == index {
			out = append(out, e)
		}
	}
	return out
}

func (s *Store) publishSnapshot(n *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Store(n)
	close(s.moved)
	s.moved = make(chan struct{})
}

// Now returns the newest snapshot, without waiting. In a handler of a call it holds
// everything that was acknowledged, on any node, before the call.
func (s *Store) Now() *Snapshot { return s.now.Load() }

// Fresh returns a snapshot that holds everything acknowledged, on any node, before the
// call. Work that is not begun by a call of the host uses it.
func (s *Store) Fresh(ctx context.Context) (*Snapshot, error) {
	revision, err := s.host.Datastore.Barrier(ctx)
	if err == nil {
		err = s.WaitFor(ctx, revision)
	}
	return s.Now(), err
}

// WaitFor waits until the projection has a revision.
func (s *Store) WaitFor(ctx context.Context, revision uint64) error {
	n := s.now.Load()
	if n != nil && n.revision >= revision {
		return nil
	}
	err := s.WaitUntil(ctx, func(n *Snapshot) bool { return n.revision >= revision })
	if err != nil {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the plugin's data has not reached revision %d: %v",
			revision,
			err,
		)
	}
	return nil
}

// WaitUntil waits until ok accepts a snapshot, or ctx ends: its error is returned then. It
// does not wait for a projection that has ended.
func (s *Store) WaitUntil(ctx context.Context, ok func(*Snapshot) bool) error {
	for {
		s.mu.Lock()
		moved, now := s.moved, s.now.Load()
		s.mu.Unlock()
		if now != nil && ok(now) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ended: // also for callers whose context has no end
			return fault.New(fault.Unavailable, "the plugin is stopping")
		}
	}
}

// Broken describes the records that cannot be decoded, by key: those of some views, or of all
// when none is named. They are kept, and are not taken for deleted.
func (s *Store) Broken(views ...View) map[string]error {
	out := map[string]error{}
	now := s.Now()
	for i, v := range s.views {
		if len(views) > 0 && !slices.Contains(views, v) {
			continue
		}
		if b, ok := v.(interface{ broken(any, map[string]error) }); ok {
			b.broken(now.parts[i], out)
		}
	}
	return out
}

// WatchBroken calls f with the records that cannot be decoded whenever there are others
// than before, until ctx ends.
func (s *Store) WatchBroken(ctx context.Context, f func(map[string]error)) {
	last := map[string]error{}
	var seen uint64
	for ctx.Err() == nil {
		now := s.Broken()
		if !maps.EqualFunc(last, now, func(a, b error) bool {
			return a.Error() == b.Error()
		}) {
			f(now)
			last = now
		}
		seen = s.Now().Revision()
		if s.WaitUntil(ctx, func(n *Snapshot) bool { return n.revision > seen }) != nil {
			return
		}
		host.Pause(ctx, time.Second) // looking costs as much as there is
	}
}

func decodeError(key string, err error) error {
	return fmt.Errorf("the stored record %s cannot be read: %w", key, err)
}
