// Package lease gives each role to one holder at a time, among the processes of this node
// and among all nodes. A role is a key of the datastore; the revision that made the key is
// the epoch, which every fenced transaction compares.
package lease

import (
	"context"
	"encoding/json"
	"sync"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/hostsvc"
)

// Namespace is where roles and nodes are kept.
const Namespace = "lease"

const rolePrefix = "role/"

// Manager is the roles of this node. It is safe for concurrent use.
type Manager struct {
	store datastore.Store

	mu    sync.Mutex
	turns map[string]chan struct{} // by role: holds a value while the role is free
}

// New returns a manager without roles.
func New(store datastore.Store) *Manager {
	return &Manager{store: store, turns: map[string]chan struct{}{}}
}

// turn returns the channel of a role.
func (m *Manager) turn(role string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.turns[role]
	if t == nil {
		t = make(chan struct{}, 1)
		t <- struct{}{}
		m.turns[role] = t
	}
	return t
}

// record is the value of a role's key.
type record struct {
	Holder string `json:"holder"`
}

// Hold waits until holder has the role. It implements hostsvc.Roles.
func (m *Manager) Hold(ctx context.Context, role, holder string) (hostsvc.Term, error) {
	turn := m.turn(role)
	select {
	case <-turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	value, err := json.Marshal(record{Holder: holder})
	if err != nil {
		turn <- struct{}{}
		return nil, err
	}
	epoch, err := m.store.Commit(ctx, datastore.Txn{By: holder, Ops: []datastore.Op{datastore.Put(Namespace, rolePrefix+role, value)}})
	if err != nil {
		turn <- struct{}{}
		return nil, err
	}
	return &term{role: role, epoch: epoch, release: sync.OnceFunc(func() { turn <- struct{}{} })}, nil
}

// term implements hostsvc.Term.
type term struct {
	role    string
	epoch   datastore.Revision
	release func()
}

func (t *term) Epoch() uint64            { return uint64(t.epoch) }
func (t *term) Until() int64             { return 0 }
func (t *term) Renewed() <-chan struct{} { return nil }
func (t *term) Lost() <-chan struct{}    { return nil }
func (t *term) Release()                 { t.release() }

func (t *term) Condition() datastore.Compare {
	return datastore.Compare{Namespace: Namespace, Key: rolePrefix + t.role, Revision: t.epoch}
}
