package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// session is one lease of this node.
type session struct {
	lease int64
	node  datastore.Revision // of the record of this node
	until atomic.Int64       // by the clock
}

// callLimit is the limit of one call to the store.
func (m *Manager) callLimit() time.Duration {
	return m.o.TTL / 5
}

// renewBound leaves time for a second try, at another member of the store's cluster, before
// the holders must stop.
func (m *Manager) renewBound() time.Duration {
	return m.o.TTL / 8
}

// runSessions keeps one session after the other.
func (m *Manager) runSessions() {
	failed := false
	for m.ctx.Err() == nil {
		s, err := m.openSession(m.ctx)
		if err != nil {
			if m.ctx.Err() == nil && !failed {
				m.o.Log.Error(
					"this node has no lease, so it holds no role; it is tried again",
					"error",
					err,
				)
			}
			failed = true
			_ = together.Sleep(m.ctx, m.o.TTL/8+rand.N(m.o.TTL/8))
			continue
		}
		failed = false
		m.setSession(s)
		m.o.Log.Info("this node has a lease", "node", m.o.Node.ID, "lease", s.lease)
		reason := m.renewUntilLost(s)
		m.setSession(nil)
		if m.ctx.Err() == nil {
			m.o.Log.Warn(
				"the lease of this node has ended, and its roles with it",
				"lease",
				s.lease,
				"reason",
				reason,
			)
		}
		// What is still under the lease goes now rather than when it runs out.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), m.callLimit())
		if err := m.o.Leases.Revoke(ctx, s.lease); err != nil {
			m.o.Log.Debug("the lease was not revoked; it runs out", "lease", s.lease, "error", err)
		}
		cancel()
	}
}

func (m *Manager) setSession(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session = s
	m.unsent = m.report != nil
	for _, seat := range m.seats {
		if seat.term != nil && seat.term.s != s {
			seat.term.lose()
		}
	}
	m.changed.Fire()
}

// openSession grants a lease and puts the record of this node under it.
func (m *Manager) openSession(ctx context.Context) (*session, error) {
	before, err := m.resolvePreviousNode(ctx)
	if err != nil {
		return nil, err
	}
	sent := m.o.Clock()
	call, cancel := context.WithTimeout(ctx, m.callLimit())
	defer cancel()
	id, err := m.o.Leases.Grant(call, m.o.TTL)
	if err != nil {
		return nil, fmt.Errorf("the store did not grant a lease: %w", err)
	}
	n := m.o.Node
	n.Lease = id
	value, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	s := &session{lease: id}
	put := datastore.Put(Namespace, nodePrefix+n.ID, value)
	put.Lease = id
	s.node, err = m.o.Store.Commit(ctx, datastore.Txn{
		By:  "node " + n.ID,
		Ops: []datastore.Op{put},
		Compares: []datastore.Compare{{
			Namespace: Namespace,
			Key:       nodePrefix + n.ID,
			Revision:  before,
		}},
	})
	if err != nil {
		drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.callLimit())
		defer cancel()
		return nil, errors.Join(
			fmt.Errorf("the record of this node was not written: %w", err),
			m.o.Leases.Revoke(drop, id),
		)
	}
	s.until.Store(sent + int64(m.o.TTL*2/3))
	return s, nil
}

// resolvePreviousNode deals with a record of this node that is there already. One of an earlier
// process in this home, which the lock on the home says is gone, ends at once with its
// roles; for one from elsewhere this node waits, because that may be a copy of the home.
func (m *Manager) resolvePreviousNode(ctx context.Context) (datastore.Revision, error) {
	e, err := datastore.Get(ctx, m.o.Store, Namespace, nodePrefix+m.o.Node.ID)
	if errors.Is(err, datastore.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var n Node
	if err := json.Unmarshal(e.Value, &n); err != nil {
		return e.Revision, nil // not ours to understand, and it must not keep the node out
	}
	copied := n.Inode != 0 && n.Inode != m.o.Node.Inode // at the same path of another machine of that name, as in a container
	if n.Host != m.o.Node.Host || n.Home != m.o.Node.Home || copied {
		return 0, fault.New(fault.InUse, "the node %s is already running, in %s on %s: if this home is a copy of that one, remove data/node.pem here and start again",
			n.ID, n.Home, n.Host)
	}
	call, cancel := context.WithTimeout(ctx, m.callLimit())
	defer cancel()
	if err := m.o.Leases.Revoke(call, n.Lease); err != nil {
		return 0, fmt.Errorf("the lease of the previous process could not be ended: %w", err)
	}
	e, err = datastore.Get(ctx, m.o.Store, Namespace, nodePrefix+m.o.Node.ID)
	if errors.Is(err, datastore.ErrNotFound) {
		return 0, nil
	}
	return e.Revision, err
}

// renewUntilLost renews a lease until it is lost, and says why. After a renewal whose answer did not
// come, the own record is read again: some releases of etcd renew a lease that has ended.
func (m *Manager) renewUntilLost(s *session) (reason string) {
	pause, doubt := m.o.TTL/4, false
	for {
		if together.Sleep(m.ctx, pause) != nil {
			return "the controller stops"
		}
		pause = m.o.TTL / 4
		sent := m.o.Clock()
		if sent >= s.until.Load() {
			return "it was not renewed in time: this process or its machine stood still, or the store did not answer"
		}
		call, cancel := context.WithTimeout(m.ctx, m.renewBound())
		ttl, err := m.o.Leases.Renew(call, s.lease)
		cancel()
		m.metrics.noteRenewal(time.Duration(m.o.Clock()-sent), err)
		switch {
		case fault.KindOf(err) == fault.NotFound && err != nil:
			return "the store has ended it: " + err.Error()
		case err == nil && doubt:
			err = m.confirmSession(s)
			if errors.Is(err, datastore.ErrNotFound) {
				return "the record of this node is gone from the store"
			}
		}
		if err != nil {
			doubt, pause = true, m.o.TTL/60
			continue
		}
		doubt = false
		m.mu.Lock()
		if m.o.Clock() < s.until.Load() { // a lease that was late stays lost
			s.until.Store(sent + int64(min(ttl, m.o.TTL)*2/3))
		}
		for _, seat := range m.seats {
			if seat.term != nil && seat.term.s == s {
				together.Notify(seat.term.renewed)
			}
		}
		m.mu.Unlock()
		m.cleanUpRoles(s)
	}
}

// confirmSession reads the own record from the store.
func (m *Manager) confirmSession(s *session) error {
	ctx, cancel := context.WithTimeout(m.ctx, m.callLimit())
	defer cancel()
	e, err := datastore.Get(ctx, m.o.Store, Namespace, nodePrefix+m.o.Node.ID)
	if err == nil && e.Revision != s.node {
		err = datastore.ErrNotFound
	}
	return err
}

// cleanUpRoles deletes keys of roles that this node neither holds nor waits for, which is what a release
// that did not reach the store leaves, and writes the report.
func (m *Manager) cleanUpRoles(s *session) {
	m.mu.Lock()
	var left []Role
	for name, r := range m.known.roles {
		seat := m.seats[name]
		if r.instance == m.o.Node.Instance &&
			(seat == nil || !seat.taken && (seat.waiting == 0 || m.paused[name].After(time.Now()))) {
			left = append(left, Role{
				Name:  name,
				Epoch: r.Epoch,
			})
		}
	}
	report, unsent := m.report, m.unsent
	m.mu.Unlock()
	for _, r := range left {
		_ = m.removeRoleKey(m.ctx, r.Name, r.Epoch)
	}
	if !unsent {
		return
	}
	put := datastore.Put(Namespace, reportPrefix+m.o.Node.ID, report)
	put.Lease = s.lease
	ctx, cancel := context.WithTimeout(m.ctx, m.callLimit())
	defer cancel()
	_, err := m.o.Store.Commit(
		ctx,
		datastore.Txn{
			By:       "node " + m.o.Node.ID,
			Ops:      []datastore.Op{put},
			Compares: []datastore.Compare{m.sessionCondition(s)},
		},
	)
	if err != nil {
		return // the next time
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unsent = string(report) != string(m.report)
}

// sessionCondition holds as long as the record of this session is there.
func (m *Manager) sessionCondition(s *session) datastore.Compare {
	return datastore.Compare{
		Namespace: Namespace,
		Key:       nodePrefix + m.o.Node.ID,
		Revision:  s.node,
	}
}
