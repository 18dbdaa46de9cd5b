package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	mathrand "math/rand/v2"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
)

// seat is a role among the processes of this node: one holds it or tries to get it, the
// others wait in order.
type seat struct {
	turn    chan struct{} // holds a value while the seat is free
	taken   bool
	waiting int
	term    *Term // nil while it is not held
}

func (m *Manager) takeSeat(ctx context.Context, role string) error {
	m.mu.Lock()
	s := m.seats[role]
	if s == nil {
		s = &seat{turn: make(chan struct{}, 1)}
		s.turn <- struct{}{}
		m.seats[role] = s
	}
	s.waiting++
	m.mu.Unlock()
	var err error
	select {
	case <-s.turn:
	case <-ctx.Done():
		err = ctx.Err()
	case <-m.ctx.Done():
		err = datastore.ErrClosed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.waiting--
	s.taken = s.taken || err == nil
	return err
}

// freeSeat frees a seat, and reports whether no process of this node waits for it.
func (m *Manager) freeSeat(role string) (alone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seats[role]
	s.term, s.taken = nil, false
	s.turn <- struct{}{}
	return s.waiting == 0 || m.paused[role].After(time.Now())
}

// Hold waits until holder has the role. The term ends when it is released, and when the
// lease of the node does.
func (m *Manager) Hold(ctx context.Context, role, holder string) (*Term, error) {
	if err := m.takeSeat(ctx, role); err != nil {
		return nil, err
	}
	t := &Term{
		m:        m,
		role:     role,
		holder:   holder,
		lost:     make(chan struct{}),
		renewed:  make(chan struct{}, 1),
		released: make(chan struct{}),
	}
	err := m.createRoleKey(ctx, t)
	if err != nil {
		m.freeSeat(role)
		return nil, err
	}
	m.metrics.noteTermBegan(role, t.epoch)
	m.o.Log.Info("a role is held", "role", role, "holder", holder, "epoch", uint64(t.epoch))
	return t, nil
}

// createRoleKey makes the role's key.
func (m *Manager) createRoleKey(ctx context.Context, t *Term) error {
	r := roleRecord{
		Node:     m.o.Node.ID,
		Instance: m.o.Node.Instance,
		Holder:   t.holder,
		Try:      rand.Text(),
	}
	record := func() (datastore.Txn, error) { // since is when the role is got, not when it is waited for
		r.Since = time.Now().UTC()
		t.since = r.Since
		value, err := json.Marshal(r)
		return datastore.Txn{
			By:  t.holder,
			Ops: []datastore.Op{datastore.Put(Namespace, rolePrefix+t.role, value)},
		}, err
	}
	if m.o.Leases == nil {
		txn, err := record()
		if err == nil {
			t.epoch, err = m.o.Store.Commit(ctx, txn)
		}
		if err == nil {
			m.beginTerm(t)
		}
		return err
	}
	for {
		s, before, err := m.waitForFreeRole(ctx, t.role)
		if err != nil {
			return err
		}
		txn, err := record()
		if err != nil {
			return err
		}
		txn.Ops[0].Lease = s.lease
		txn.Compares = []datastore.Compare{{
			Namespace: Namespace,
			Key:       rolePrefix + t.role,
			Revision:  before,
		}, m.sessionCondition(s)}
		t.s = s
		t.epoch, err = m.o.Store.Commit(ctx, txn)
		if err != nil && !errors.Is(err, datastore.ErrConflict) {
			t.epoch, err = m.readBackRole(ctx, t.role, r.Try, err)
		}
		if err == nil {
			m.beginTerm(t)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err() // a key that was made all the same is deleted by tidy
		}
		if together.Sleep(ctx, m.o.TTL/100+mathrand.N(m.o.TTL/50)) != nil {
			return ctx.Err()
		}
	}
}

// beginTerm makes a term known. One whose key is gone already, or whose lease has ended, is
// lost from the start.
func (m *Manager) beginTerm(t *Term) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seats[t.role].term = t
	if t.s == nil {
		return
	}
	if m.session != t.s || m.known.at >= t.epoch && m.known.roles[t.role].Epoch != t.epoch {
		t.lose()
	}
}

// waitForFreeRole waits until this node may try to get a role: it has a lease, did not just give
// the role up, and no other process holds it. before is the revision of a key that this
// node left.
func (m *Manager) waitForFreeRole(
	ctx context.Context,
	role string,
) (s *session, before datastore.Revision, err error) {
	for {
		m.mu.Lock()
		s, changed, held, paused := m.session, m.changed.Wait(), m.known.roles[role], time.Until(m.paused[role])
		m.mu.Unlock()
		free := held.Epoch == 0 || held.instance == m.o.Node.Instance
		if s != nil && free && paused <= 0 {
			return s, held.Epoch, nil
		}
		var later <-chan time.Time
		if paused > 0 {
			later = time.After(paused)
		}
		select {
		case <-changed:
		case <-later:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-m.ctx.Done():
			return nil, 0, datastore.ErrClosed
		}
	}
}

// readBackRole reads back what became of a transaction whose answer was unclear.
func (m *Manager) readBackRole(
	ctx context.Context,
	role, try string,
	cause error,
) (datastore.Revision, error) {
	call, cancel := context.WithTimeout(ctx, m.callLimit())
	defer cancel()
	e, err := datastore.Get(call, m.o.Store, Namespace, rolePrefix+role)
	var r roleRecord
	if err != nil || json.Unmarshal(e.Value, &r) != nil || r.Try != try {
		return 0, cause
	}
	return e.Revision, nil
}

// removeRoleKey deletes a role's key if it is still that of an epoch.
func (m *Manager) removeRoleKey(ctx context.Context, role string, epoch datastore.Revision) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.callLimit())
	defer cancel()
	_, err := m.o.Store.Commit(ctx, datastore.Txn{
		By:  "node " + m.o.Node.ID,
		Ops: []datastore.Op{datastore.Delete(Namespace, rolePrefix+role)},
		Compares: []datastore.Compare{{
			Namespace: Namespace,
			Key:       rolePrefix + role,
			Revision:  epoch,
		}},
	})
	if errors.Is(err, datastore.ErrConflict) {
		return nil
	}
	return err
}

// StepDown gives up roles, all when none is named, and leaves them to other nodes for a
// while. It returns those that were held here; their holders have stopped, or had the
// time for it.
func (m *Manager) StepDown(ctx context.Context, roles []string, pause time.Duration) []string {
	m.mu.Lock()
	if len(roles) == 0 {
		for name := range m.seats {
			roles = append(roles, name)
		}
	}
	var terms []*Term
	var given []string
	for _, name := range roles {
		m.paused[name] = time.Now().Add(pause)
		if s := m.seats[name]; s != nil && s.term != nil {
			terms, given = append(terms, s.term), append(given, name)
		}
	}
	m.mu.Unlock()
	for _, t := range terms {
		t.Drain()
	}
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	for _, t := range terms {
		select {
		case <-t.released:
		case <-limit.C:
			limit.Reset(0)
			t.Release()
		case <-ctx.Done():
			return given
		}
	}
	return given
}
