package lease

import (
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
)

// drainTime is how long a holder that is asked to stop may take.
const drainTime = 3 * time.Second

// drained is what Until says while the holder is asked to stop: a time that is over.
const drained = 1

// Term is one time of holding a role.
type Term struct {
	m        *Manager
	role     string
	holder   string
	since    time.Time
	epoch    datastore.Revision
	s        *session // nil: there are no leases
	lost     chan struct{}
	renewed  chan struct{}
	draining atomic.Bool
	losing   sync.Once
	release  sync.Once
	released chan struct{}
}

// Epoch is the revision of the role's key, which only the holder has.
func (t *Term) Epoch() uint64 { return uint64(t.epoch) }

// Until is CLOCK_BOOTTIME in nanoseconds until which the role is held for certain; 0 = until
// it is released. A holder that is asked to stop gets a time that is over.
func (t *Term) Until() int64 {
	switch {
	case t.draining.Load():
		return drained
	case t.s == nil:
		return 0
	}
	return t.s.until.Load()
}

// Renewed gets a value when Until has changed.
func (t *Term) Renewed() <-chan struct{} { return t.renewed }

// Lost is closed when the role is not held any more.
func (t *Term) Lost() <-chan struct{} { return t.lost }

// Draining reports whether the holder is asked to stop.
func (t *Term) Draining() bool { return t.draining.Load() }

// Drain asks the holder to stop and to release the role.
func (t *Term) Drain() {
	t.draining.Store(true)
	together.Notify(t.renewed)
}

func (t *Term) lose() { t.losing.Do(func() { close(t.lost) }) }

// Condition holds in a transaction as long as the role is held.
func (t *Term) Condition() datastore.Compare {
	return datastore.Compare{
		Namespace: Namespace,
		Key:       rolePrefix + t.role,
		Revision:  t.epoch,
	}
}

// Release gives the role up: another process of this node that waits for it is next, else
// any node.
func (t *Term) Release() {
	t.release.Do(func() {
		m := t.m
		t.lose()
		m.metrics.noteTermEnded(t.role)
		m.o.Log.Info("a role is given up", "role", t.role, "holder", t.holder, "epoch", t.Epoch())
		alone := m.freeSeat(t.role)
		if t.s != nil && alone && m.hasSession(t.s) {
			if err := m.removeRoleKey(m.ctx, t.role, t.epoch); err != nil {
				m.o.Log.Warn(
					"the key of a role that was given up is not deleted yet; it is tried again",
					"role",
					t.role,
					"error",
					err,
				)
			}
		}
		close(t.released)
	})
}

// hasSession reports whether a lease is the one of this node; the keys of others are gone.
func (m *Manager) hasSession(s *session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session == s
}
