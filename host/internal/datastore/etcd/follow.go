package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/internal/together"
)

// Keys of the store itself, in the namespace that no user can name.
const (
	headKey  = "\x00head"  // written by every commit
	epochKey = "\x00epoch" // see commit.go
	baseKey  = "\x00base"  // see revision.go; it is read before all other keys
)

// head says who made a commit.
type head struct {
	By   string `json:"by,omitempty"`
	Node string `json:"node"`
	At   int64  `json:"at"` // Unix nanoseconds, by the clock of the node
	ID   string `json:"id"`
}

// sent are the commits of this process that are on their way, so that one with an unclear
// answer finds out what became of it.
type sent struct {
	sentMu sync.Mutex
	ids    map[string]*commit
	loads  int // how often the projection was built from a snapshot
}

// commit is one that is on its way.
type commit struct {
	rev   int64         // once the watch has shown it
	shown chan struct{} // closed then, when the projection has it
}

// page is how many entries one call reads, as long as the answer is not too large.
const page = 1000

// loadProjection builds the projection from what the cluster has at one revision.
func (s *Store) loadProjection(ctx context.Context) error {
	for tries := 0; ; tries++ {
		err := s.loadOnce(ctx)
		if !errors.Is(err, datastore.ErrCompacted) || tries == 5 {
			return err
		}
	}
}

func (s *Store) loadOnce(ctx context.Context) error {
	out := projection.NewLoader(s.o.History)
	epoch := int64(0)
	latest := mark{}
	limit := int64(page)
	rev := int64(0)
	end := clientv3.GetPrefixRangeEnd(s.o.Prefix)
	for start := s.o.Prefix; ; {
		r, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (*clientv3.GetResponse, error) {
			return c.Get(
				ctx,
				start,
				clientv3.WithRange(end),
				clientv3.WithLimit(limit),
				clientv3.WithRev(rev),
			)
		})
		if errors.Is(err, datastore.ErrTooBig) && limit > 1 {
			limit = max(1, limit/8)
			continue
		}
		if err != nil {
			return err
		}
		if rev == 0 {
			rev = r.Header.Revision
		}
		for _, kv := range r.Kvs {
			ns, e := s.entryOf(kv)
			if ns != "" {
				out.Put(ns, e)
				continue
			}
			name := "\x00" + e.Key
			latest = latest.withKey(name, kv)
			switch name {
			case baseKey: // it is read before what has a namespace
				base, err := s.parseBase(kv.Value)
				if err != nil {
					return err
				}
				s.base.Store(base)
			case epochKey:
				epoch = kv.ModRevision
			}
		}
		if !r.More || len(r.Kvs) == 0 {
			break
		}
		start = string(r.Kvs[len(r.Kvs)-1].Key) + "\x00"
	}
	s.sentMu.Lock()
	s.loads++
	s.sentMu.Unlock()
	s.epoch.Store(epoch)
	s.latest.Store(&latest)
	s.Publish(out.State(s.storeRevision(rev)))
	return nil
}

func (s *Store) entryOf(kv *mvccpb.KeyValue) (ns string, e datastore.Entry) {
	e.Value, e.Revision = kv.Value, s.storeRevision(kv.ModRevision)
	if e.Value == nil {
		e.Value = []byte{}
	}
	ns, e.Key = projection.Split(strings.TrimPrefix(string(kv.Key), s.o.Prefix))
	return ns, e
}

// followCluster keeps the projection equal to the cluster until the store is closed.
func (s *Store) followCluster() {
	pause := time.Duration(0)
	for s.ctx.Err() == nil {
		from := s.Revision()
		err := s.watchPreferred()
		switch {
		case errors.Is(err, errPast):
			err = s.goBack(s.ctx)
		case errors.Is(err, datastore.ErrCompacted):
			if err = s.catchUp(s.ctx); err == nil {
				s.o.Log.Warn(
					"the cluster no longer had the changes that were missing: its state was read again",
					"revision",
					s.Revision(),
				)
			}
		}
		if err != nil && s.ctx.Err() == nil {
			s.o.Log.Warn("the watch of the cluster is opened again", "error", err)
		}
		if pause = min(2*pause+10*time.Millisecond, 500*time.Millisecond); s.Revision() > from {
			pause = 0
		}
		select {
		case <-time.After(pause):
		case <-s.stuck: // another member is preferred now
		case <-s.ctx.Done():
		}
	}
}

// catchUp reads the state again after history that the cluster no longer has.
func (s *Store) catchUp(ctx context.Context) error {
	newest, err := s.newestMark(ctx)
	switch {
	case err != nil:
		return err
	case !newest.canFollow(*s.latest.Load()):
		return s.goBack(ctx)
	}
	return s.loadProjection(ctx)
}

// reopenWatch makes the watch look whether it is with the preferred member, and whether the
// cluster still has its past.
func (s *Store) reopenWatch() { together.Notify(s.stuck) }

// applyEvents applies the events of a response, one batch a revision.
func (s *Store) applyEvents(events []*mvccpb.Event) error {
	for len(events) > 0 {
		n, rev := 1, events[0].Kv.ModRevision
		for n < len(events) && events[n].Kv.ModRevision == rev {
			n++
		}
		if s.storeRevision(rev) > s.Revision() { // a watch never goes back
			b, id, latest := s.batchOf(rev, events[:n])
			if latest.base != s.latest.Load().base {
				return errPast // another node has raised it
			}
			s.latest.Store(&latest)
			s.Publish(s.State().Apply(b))
			s.noteCommitShown(id, rev)
		}
		events = events[n:]
	}
	return nil
}

func (s *Store) batchOf(
	rev int64,
	events []*mvccpb.Event,
) (b datastore.Batch, id string, latest mark) {
	b.Revision, latest = s.storeRevision(rev), *s.latest.Load()
	for _, e := range events {
		ns, entry := s.entryOf(e.Kv)
		switch name := "\x00" + entry.Key; {
		case ns != "":
			created := e.Type == mvccpb.PUT && e.Kv.CreateRevision == e.Kv.ModRevision
			b.Events = append(
				b.Events,
				datastore.Event{
					Namespace: ns,
					Entry:     entry,
					Deleted:   e.Type == mvccpb.DELETE,
					Created:   created,
				},
			)
			if last := &b.Events[len(b.Events)-1]; last.Deleted {
				last.Value = nil
			}
		case name == headKey:
			var h head
			if json.Unmarshal(entry.Value, &h) == nil {
				b.By, b.At, id = h.By, time.Unix(0, h.At), h.ID
			}
			latest = latest.withKey(headKey, e.Kv)
		case name == baseKey:
			latest = latest.withKey(baseKey, e.Kv)
		case name == epochKey:
			s.epoch.Store(rev)
		}
	}
	return b, id, latest
}

// noteCommitShown notes that a commit of this process has come back.
func (s *Store) noteCommitShown(id string, rev int64) {
	s.sentMu.Lock()
	defer s.sentMu.Unlock()
	if c := s.ids[id]; c != nil && c.rev == 0 {
		c.rev = rev
		close(c.shown)
	}
}

// keepRevisions is how many the cluster keeps for controllers that were away.
const keepRevisions = 10_000

// checkCluster asks the cluster each second, so that the age of the projection is known and a
// watch that is stuck is noticed, and forgets old revisions.
func (s *Store) checkCluster() {
	every := time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	compacted := s.Revision()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		if s.projectionAge() > every/2 {
			_, _ = s.Barrier(s.ctx) // whoever waits gets the error
		}
		if rev := s.Revision(); rev >= compacted+2*keepRevisions {
			compacted = rev - keepRevisions
			// Another controller may have been further, and the store may count from a larger base.
			_, _ = askOnce(s.ctx, s, s.members.preferred.Load(), func(ctx context.Context, c *clientv3.Client) (*clientv3.CompactResponse, error) {
				return c.Compact(ctx, s.clusterRevision(compacted))
			})
		}
	}
}
