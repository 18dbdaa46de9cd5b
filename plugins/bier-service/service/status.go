package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/sdk/state"
)

// records writes what becomes of routers, while the role is held: the newest of each, in
// as few transactions as it comes to.
type records struct {
	data *data
	term *state.Term
	wake chan struct{}

	mu       sync.Mutex
	routers  map[string]*bier.Status  // nil: it goes
	sessions map[string]*bier.Session // nil: it goes
	notices  map[string]*bier.Notice  // nil: it goes
	commits  map[string]*commit       // of drivers that wait
	asked    []string                 // requests that are being served
	service  *bier.Status             // nil: as before
}

// commit is a configuration that a router is about to keep.
type commit struct {
	hash string
	done chan error
}

func newRecords(d *data, term *state.Term) *records {
	return &records{data: d, term: term, wake: make(chan struct{}, 1), routers: map[string]*bier.Status{}, sessions: map[string]*bier.Session{}, notices: map[string]*bier.Notice{}, commits: map[string]*commit{}}
}

func (r *records) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	bierplugin.Notify(r.wake)
}

func (r *records) router(node string, s *bier.Status)   { r.change(func() { r.routers[node] = s }) }
func (r *records) session(node string, s *bier.Session) { r.change(func() { r.sessions[node] = s }) }
func (r *records) notice(key string, n *bier.Notice)    { r.change(func() { r.notices[key] = n }) }

// commit keeps what a router is about to hold, and returns when that is stored under the role.
func (r *records) commit(ctx context.Context, node, hash string) error {
	c := &commit{hash, make(chan error, 1)}
	r.change(func() { r.commits[node] = c })
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		r.change(func() { delete(r.commits, node) })
		return ctx.Err()
	}
}

// processed says up to which revision it is known what routers must hold.
func (r *records) processed(revision uint64, reason string) {
	r.change(func() { r.service = &bier.Status{Processed: revision, Reason: reason} })
}

// served removes requests that were taken in.
func (r *records) served(asked []string) { r.change(func() { r.asked = append(r.asked, asked...) }) }

// pieces bounds the records of one transaction.
const pieces = 100

// maxRecordsRest bounds how long records are gathered when they come closely.
const maxRecordsRest = 20 * time.Millisecond

func (r *records) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		began := time.Now()
		for r.flush(ctx) && ctx.Err() == nil {
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(time.Since(began), maxRecordsRest)):
		}
	}
}

// flush writes a piece of what is there, and says whether there is more. What is known of
// the service is written after what is known of routers.
func (r *records) flush(ctx context.Context) (more bool) {
	r.mu.Lock()
	routers, sessions, notices, commits := take(r.routers), take(r.sessions), take(r.notices), take(r.commits)
	more = len(r.routers)+len(r.sessions)+len(r.notices)+len(r.commits) > 0
	service, asked := r.service, r.asked
	if more {
		service, asked = nil, nil
	} else {
		r.service, r.asked = nil, nil
	}
	r.mu.Unlock()
	_, err := r.term.Update(ctx, func(tx *state.Tx) error { return r.write(tx, routers, sessions, notices, commits, service, asked) })
	for _, c := range commits {
		c.done <- err
	}
	if err == nil {
		return more
	}
	if ctx.Err() != nil {
		return false
	}
	slog.Warn("what is known of BIER routers was not stored; trying again", "error", err)
	r.mu.Lock()
	older(r.routers, routers)
	older(r.sessions, sessions)
	older(r.notices, notices)
	if r.service == nil {
		r.service = service
	}
	r.asked = append(r.asked, asked...)
	r.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
	return true
}

// take moves up to a piece out of a map.
func take[T any](m map[string]T) map[string]T {
	out := map[string]T{}
	for k, v := range m {
		if len(out) == pieces {
			break
		}
		out[k] = v
		delete(m, k)
	}
	return out
}

// older puts back what has not been replaced meanwhile.
func older[T any](m, back map[string]T) {
	for k, v := range back {
		if _, ok := m[k]; !ok {
			m[k] = v
		}
	}
}

// write is the only one to write these records, so it looks at no condition but the role.
func (r *records) write(tx *state.Tx, routers map[string]*bier.Status, sessions map[string]*bier.Session, notices map[string]*bier.Notice, commits map[string]*commit, service *bier.Status, asked []string) error {
	tx.Volatile() // after a crash routers are compared again
	was := tx.Snapshot()
	put := func(key string, s *bier.Status) error {
		before, ok := r.data.status.Get(was, key)
		if s == nil {
			if ok {
				r.data.status.Delete(tx, key)
			}
			return nil
		}
		next := *s
		next.Epoch, next.Since = r.term.Epoch(), time.Now().UTC().Truncate(time.Millisecond)
		if before.State == next.State && before.Reason == next.Reason {
			next.Since = before.Since
		}
		if next.Epoch = before.Epoch; ok && next == before {
			return nil
		}
		next.Epoch = r.term.Epoch()
		return r.data.status.Put(tx, key, next)
	}
	for node, s := range routers {
		if err := put(bier.RouterKey(node), s); err != nil {
			return err
		}
	}
	for node, s := range sessions {
		before, ok := r.data.status.Sessions.Get(was, node)
		switch {
		case s == nil && ok:
			r.data.status.Sessions.Delete(tx, node)
		case s != nil && (!ok || !before.Same(*s)):
			if err := r.data.status.Sessions.Put(tx, node, *s); err != nil {
				return err
			}
		}
	}
	for key, n := range notices {
		_, ok := r.data.status.Notices.Get(was, key)
		switch {
		case n == nil && ok:
			r.data.status.Notices.Delete(tx, key)
		case n != nil && !ok: // else it is known since the first report
			if err := r.data.status.Notices.Put(tx, key, *n); err != nil {
				return err
			}
		}
	}
	for node, c := range commits {
		m, _ := r.data.managed.Get(was, node)
		m.Former, m.Hash, m.Since = nil, c.hash, time.Now().UTC()
		if err := r.data.managed.Put(tx, node, m); err != nil {
			return err
		}
	}
	for _, key := range asked {
		r.data.asked.Delete(tx, key)
	}
	if service != nil {
		return put(bier.ServiceKey, service)
	}
	return nil
}
