package hostsvc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Quotas bound what a plugin takes of the host; a zero field is no bound.
type Quotas struct {
	StoreBytes, StoreKeys int64
	Calls, Streams        int64 // to the host, at once
	Events                int   // a second, ten times as many at once
	EventBytes            int   // of one event
	PublishBytes          int   // of events a second, four times as many at once
	Commits, WriteBytes   int   // into the store a second; twice as many commits and four times as many bytes at once
	RequestBytes          int64 // of all calls under way; one alone may have more
	UnreadBytes           int64 // of all streams
	UnreadTime            time.Duration
	Snapshots             int64 // of the store that are being read
}

// stored counts a plugin's data in the store. The count is an upper bound that is made exact before it refuses.
type stored struct {
	mu          sync.Mutex
	counted     bool
	warned      bool
	bytes, keys int64
}

// Stored returns the size of the plugin's data in the store, as counted last.
func (s *Server) Stored() (bytes, keys int64) {
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	return s.stored.bytes, s.stored.keys
}

// OverQuota is how often each quota refused something.
func (s *Server) OverQuota() map[string]uint64 {
	out := map[string]uint64{}
	for what, n := range s.over {
		out[what] = n.Load()
	}
	return out
}

// checkStoreRoom checks that a transaction of the plugin stays within its quota.
func (s *Server) checkStoreRoom(ctx context.Context, t datastore.Txn) error {
	q := s.services.Quotas
	if q.StoreBytes <= 0 || q.StoreKeys <= 0 {
		return nil
	}
	var bytes, keys int64
	for _, o := range t.Ops {
		if !o.Delete && !o.DeletePrefix {
			bytes, keys = bytes+int64(len(o.Key)+len(o.Value)), keys+1
		}
	}
	if keys == 0 {
		return nil
	}
	st := &s.stored
	st.mu.Lock()
	defer st.mu.Unlock()
	over := func() bool {
		return st.bytes+bytes > q.StoreBytes || st.keys+keys > q.StoreKeys
	}
	if !st.counted || over() {
		err := s.countStored(ctx)
		if err == nil {
			bytes, keys, err = s.dataGrowth(ctx, t)
		}
		if err != nil {
			return storeFault(err)
		}
	}
	if (bytes > 0 || keys > 0) && over() {
		s.noteQuotaExceeded("store")
		return fault.New(fault.TooBig, "plugin %s has %d MiB in %d keys in the store; its quota is %d MiB and %d keys, so nothing was written",
			s.plugin, st.bytes>>20, st.keys, q.StoreBytes>>20, q.StoreKeys)
	}
	st.bytes, st.keys = st.bytes+bytes, st.keys+keys
	near := st.bytes > q.StoreBytes*4/5 || st.keys > q.StoreKeys*4/5
	if near && !st.warned {
		if err := s.countStored(ctx); err != nil {
			return storeFault(err)
		}
		if st.warned = st.bytes > q.StoreBytes*4/5 || st.keys > q.StoreKeys*4/5; st.warned {
			s.services.Log.Warn("the plugin has used four fifths of its room in the store", "plugin", s.plugin,
				slog.Int64("bytes", st.bytes), slog.Int64("keys", st.keys), "quota_bytes", q.StoreBytes, "quota_keys", q.StoreKeys)
		}
	}
	return nil
}

// dataGrowth is by how much a transaction makes the data larger: what it replaces goes.
func (s *Server) dataGrowth(ctx context.Context, t datastore.Txn) (bytes, keys int64, err error) {
	err = s.services.Store.View(ctx, func(sn datastore.Snapshot) error {
		for _, o := range t.Ops {
			switch e, err := sn.Get(o.Namespace, o.Key); {
			case err == nil && !o.DeletePrefix:
				bytes, keys = bytes-int64(len(e.Key)+len(e.Value)), keys-1
			case err != nil && !errors.Is(err, datastore.ErrNotFound):
				return err
			}
			if !o.Delete && !o.DeletePrefix {
				bytes, keys = bytes+int64(len(o.Key)+len(o.Value)), keys+1
			}
		}
		return nil
	})
	return bytes, keys, err
}

// countStored makes the count exact. The caller holds stored.mu.
func (s *Server) countStored(ctx context.Context) error {
	var bytes, keys int64
	err := s.services.Store.View(ctx, func(sn datastore.Snapshot) error {
		add := func(namespace, prefix string) error {
			for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
				if err != nil {
					return err
				}
				bytes, keys = bytes+int64(len(e.Key)+len(e.Value)), keys+1
			}
			return nil
		}
		if err := add(NamespacePrivate(s.plugin), ""); err != nil {
			return err
		}
		m := s.Manifest()
		for namespace, trees := range map[string][]string{
			NamespaceConfig:      m.GetOwns(),
			NamespaceOperational: m.GetPublishes(),
		} {
			for _, t := range trees {
				if err := add(namespace, TreeKey(t)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		s.stored.counted, s.stored.bytes, s.stored.keys = true, bytes, keys
	}
	return err
}

// noteQuotaExceeded notes that a quota refused something.
func (s *Server) noteQuotaExceeded(what string) {
	s.over[what].Add(1)
	if s.limited.Allow() {
		s.services.Log.Error(
			"the plugin is over its quota and was refused",
			"plugin",
			s.plugin,
			"quota",
			what,
		)
	}
}

// enterCall counts a call or a stream in; the function counts it out.
func (s *Server) enterCall(what string, n *atomic.Int64, most int64) (leave func(), err error) {
	if now := n.Add(1); most > 0 && now > most {
		n.Add(-1)
		s.noteQuotaExceeded(what)
		return nil, fault.New(
			fault.Unavailable,
			"plugin %s has %d %s to the host open, which is its quota; try again later",
			s.plugin,
			most,
			what,
		)
	}
	return func() { n.Add(-1) }, nil
}
