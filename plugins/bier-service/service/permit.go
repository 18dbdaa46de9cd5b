package service

import (
	"context"
	"slices"

	"ctl.internal/sdk/state"
)

// permit lets a driver act on a router as long as this process holds the role: what it
// writes to the store is refused otherwise. It implements bierdriver.Permit.
type permit struct {
	*acting
	node, hash string
	begun      bool
}

// maxFormer bounds the sessions that are remembered.
const maxFormer = 8

// Begin keeps that the router may hold something of ours from now on, and by which
// session, before anything is done to it.
func (p *permit) Begin(ctx context.Context, session string) (former []string, err error) {
	p.begun = true
	if err := p.takeOwnership(ctx, session); err != nil {
		return nil, err
	}
	m, _ := p.data.managed.Get(p.data.store.Now(), p.node)
	return m.Former, nil
}

func (p *permit) takeOwnership(ctx context.Context, session string) error {
	if err := p.term.Check(); err != nil {
		return err
	}
	m, ok := p.data.managed.Get(p.data.store.Now(), p.node)
	if ok && m.Epoch == p.term.Epoch() && m.Session == session {
		return nil
	}
	_, err := p.term.Update(ctx, func(tx *state.Tx) error {
		m, _ := p.data.managed.Get(tx, p.node)
		if m.Session != "" && m.Session != session {
			m.Former = append(m.Former, m.Session)
		}
		m.Former = slices.DeleteFunc(m.Former, func(s string) bool {
			return s == session
		})
		m.Former = m.Former[max(0, len(m.Former)-maxFormer):]
		m.Epoch, m.Session = p.term.Epoch(), session
		return p.data.managed.Put(tx, p.node, m)
	})
	return err
}

// Commit is the point from which the change counts: either this process still holds the
// role when it is stored, or the router takes the change back.
func (p *permit) Commit(ctx context.Context) error {
	if err := p.records.storeCommit(ctx, p.node, p.hash); err != nil {
		return err
	}
	return p.term.Check()
}
