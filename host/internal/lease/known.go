package lease

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
)

// known is what this node knows of the namespace, at one revision.
type known struct {
	at      datastore.Revision
	nodes   map[string]Node
	roles   map[string]heldRole
	reports map[string][]byte
}

type heldRole struct {
	Role
	instance string
}

// follower keeps Manager.known.
type follower struct{ m *Manager }

// Reset implements datastore.Follower.
func (f follower) Reset(sn datastore.Snapshot) error {
	k := known{
		at:      sn.Revision(),
		nodes:   map[string]Node{},
		roles:   map[string]heldRole{},
		reports: map[string][]byte{},
	}
	for e, err := range sn.Range(Namespace, datastore.RangeOptions{}) {
		if err != nil {
			return err
		}
		k.applyEvent(datastore.Event{
			Namespace: Namespace,
			Entry:     e,
		})
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.known = k
	f.m.reviewLocked()
	return nil
}

// Apply implements datastore.Follower.
func (f follower) Apply(b datastore.Batch) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.known.at = b.Revision
	if len(b.Events) == 0 {
		return nil
	}
	for _, e := range b.Events {
		f.m.known.applyEvent(e)
	}
	f.m.reviewLocked()
	return nil
}

func (k *known) applyEvent(e datastore.Event) {
	if name, ok := strings.CutPrefix(e.Key, rolePrefix); ok {
		var r roleRecord
		delete(k.roles, name)
		if !e.Deleted && json.Unmarshal(e.Value, &r) == nil {
			k.roles[name] = heldRole{Role{
				Name:   name,
				Node:   r.Node,
				Holder: r.Holder,
				Epoch:  e.Revision,
				Since:  r.Since,
			}, r.Instance}
		}
	}
	if id, ok := strings.CutPrefix(e.Key, nodePrefix); ok {
		var n Node
		delete(k.nodes, id)
		if !e.Deleted && json.Unmarshal(e.Value, &n) == nil {
			k.nodes[id] = n
		}
	}
	if id, ok := strings.CutPrefix(e.Key, reportPrefix); ok {
		delete(k.reports, id)
		if !e.Deleted {
			k.reports[id] = slices.Clone(e.Value)
		}
	}
}

// reviewLocked ends the terms whose key another wrote or deleted.
func (m *Manager) reviewLocked() {
	for role, seat := range m.seats {
		t := seat.term
		if t != nil && t.s != nil && m.known.at >= t.epoch && m.known.roles[role].Epoch != t.epoch {
			t.lose()
		}
	}
	m.changed.Fire()
}

// Members are the nodes that are alive, in order of their ids.
func (m *Manager) Members() []Node {
	if !m.Clustered() {
		return []Node{m.o.Node}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.known.nodes), func(a, b Node) int {
		return strings.Compare(a.ID, b.ID)
	})
}

// Member returns a node that is alive.
func (m *Manager) Member(id string) (Node, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.known.nodes[id]
	return n, ok
}

// Roles are the roles that are held, in order of their names.
func (m *Manager) Roles() []Role {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Role
	if m.Clustered() {
		for _, r := range m.known.roles {
			out = append(out, r.Role)
		}
	} else {
		for name, seat := range m.seats {
			if t := seat.term; t != nil {
				out = append(
					out,
					Role{
						Name:   name,
						Node:   m.o.Node.ID,
						Holder: t.holder,
						Epoch:  t.epoch,
						Since:  t.since,
					},
				)
			}
		}
	}
	slices.SortFunc(out, func(a, b Role) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Holder returns who holds a role.
func (m *Manager) Holder(role string) (Role, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.known.roles[role]
	return r.Role, ok
}

// Report makes known what runs on this node; it is written within a renewal.
func (m *Manager) Report(text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if string(text) == string(m.report) {
		return
	}
	m.report, m.unsent = slices.Clone(text), true
}

// Reports are what the nodes that are alive reported, by id.
func (m *Manager) Reports() map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.Clustered() {
		return map[string][]byte{m.o.Node.ID: m.report}
	}
	return maps.Clone(m.known.reports)
}

// Valid is how long the lease of this node is certain to live.
func (m *Manager) Valid() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return 0
	}
	return max(0, time.Duration(m.session.until.Load()-m.o.Clock()))
}
