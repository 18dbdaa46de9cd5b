package service

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// records writes what becomes of routers, while the role is held: the newest of each, in
// as few transactions as it comes to.
type records struct {
	data *data
	term *state.Term
	wake chan struct{}

	mu      sync.Mutex
	pending map[string]write   // by what is written
	commits map[string]*commit // of drivers that wait, by node-id
	asked   []string           // requests that are being served
	service *bier.Status       // nil: as before
}

// write puts the newest of one record into a transaction, if it is another than before.
type write func(tx *state.Tx) error

// commit is a configuration that a router is about to keep.
type commit struct {
	hash string
	done chan error
}

func newRecords(d *data, term *state.Term) *records {
	return &records{
		data:    d,
		term:    term,
		wake:    make(chan struct{}, 1),
		pending: map[string]write{},
		commits: map[string]*commit{},
	}
}

func (r *records) changeLocked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	together.Notify(r.wake)
}

func (r *records) setPending(key string, w write) {
	r.changeLocked(func() { r.pending[key] = w })
}

// putRouterStatus keeps the state of a router; nil: it goes.
func (r *records) putRouterStatus(node string, s *bier.Status) {
	r.setPending(bier.StatusPrefix+node, func(tx *state.Tx) error {
		return r.writeStatus(tx, bier.RouterKey(node), s)
	})
}

// putSession keeps the session to a router; nil: it goes.
func (r *records) putSession(node string, s *bier.Session) {
	sessions := r.data.status.Sessions
	r.setPending(bier.SessionPrefix+node, func(tx *state.Tx) error {
		before, ok := sessions.Get(tx.Snapshot(), node)
		switch {
		case s == nil && ok:
			sessions.Delete(tx, node)
		case s != nil && (!ok || !before.Same(*s)):
			return sessions.Put(tx, node, *s)
		}
		return nil
	})
}

// reading keeps what a router showed of its forwarding and of its channels; nil: it goes.
func (r *records) reading(node string, x *bier.Reading, counts bier.Counts) {
	r.setPending(bier.ReadingPrefix+node, func(tx *state.Tx) error {
		if x == nil {
			r.data.status.Readings.Delete(tx, node)
			return nil
		}
		return r.data.status.Readings.Put(tx, node, *x)
	})
	r.setPending(bier.CountPrefix+node, func(tx *state.Tx) error {
		_, ok := r.data.status.Counts.Get(tx.Snapshot(), node)
		switch {
		case len(counts) > 0:
			return r.data.status.Counts.Put(tx, node, counts)
		case ok:
			r.data.status.Counts.Delete(tx, node)
		}
		return nil
	})
}

// putNotice keeps what a router reported first; nil: it goes.
func (r *records) putNotice(key string, n *bier.Notice) {
	notices := r.data.status.Notices
	r.setPending(bier.NoticePrefix+key, func(tx *state.Tx) error {
		_, ok := notices.Get(tx.Snapshot(), key)
		switch {
		case n == nil && ok:
			notices.Delete(tx, key)
		case n != nil && !ok: // else it is known since the first report
			return notices.Put(tx, key, *n)
		}
		return nil
	})
}

// storeCommit keeps what a router is about to hold, and returns when that is stored under the role.
func (r *records) storeCommit(ctx context.Context, node, hash string) error {
	c := &commit{hash, make(chan error, 1)}
	r.changeLocked(func() { r.commits[node] = c })
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		r.changeLocked(func() { delete(r.commits, node) })
		return ctx.Err()
	}
}

// setProcessed says up to which revision it is known what routers must hold.
func (r *records) setProcessed(revision uint64, reason string) {
	r.changeLocked(func() {
		r.service = &bier.Status{
			Processed: revision,
			Reason:    reason,
		}
	})
}

// putHeartbeat is a sign of life: that others may believe what was known last.
func (r *records) putHeartbeat() {
	r.setPending(bier.BeatKey, func(tx *state.Tx) error {
		before, _ := r.data.status.Get(tx.Snapshot(), bier.BeatKey)
		return r.data.status.Put(
			tx,
			bier.BeatKey,
			bier.Status{
				Beat:  before.Beat + 1,
				Every: beatEvery,
				Epoch: r.term.Epoch(),
			},
		)
	})
}

// removeServedRequests removes requests that were taken in.
func (r *records) removeServedRequests(asked []string) {
	r.changeLocked(func() { r.asked = append(r.asked, asked...) })
}

// pieces bounds the records of one transaction.
const pieces = 200

// maxRecordsRest bounds how long records are gathered when they come closely.
const maxRecordsRest = 20 * time.Millisecond

// beatEvery is the time between two signs of life.
const beatEvery = 5 * time.Second

func (r *records) runWriter(ctx context.Context) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	r.putHeartbeat()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			r.putHeartbeat()
			continue // which wakes this loop
		case <-r.wake:
		}
		began := time.Now()
		for r.flush(ctx) && ctx.Err() == nil {
		}
		host.Pause(ctx, min(time.Since(began), maxRecordsRest))
	}
}

// flush writes a piece of what is there, and says whether there is more. What is known of
// the service is written after what is known of routers.
func (r *records) flush(ctx context.Context) (more bool) {
	r.mu.Lock()
	pending, commits := takePiece(r.pending), takePiece(r.commits)
	var service *bier.Status
	var asked []string
	if more = len(r.pending)+len(r.commits) > 0; !more {
		service, asked, r.service, r.asked = r.service, r.asked, nil, nil
	}
	r.mu.Unlock()
	_, err := r.term.Update(ctx, func(tx *state.Tx) error {
		return r.writeRecords(tx, pending, commits, service, asked)
	})
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
	maps.Copy(pending, r.pending) // what has been replaced meanwhile counts
	r.pending = pending
	r.service = cmp.Or(r.service, service)
	r.asked = append(r.asked, asked...)
	r.mu.Unlock()
	host.Pause(ctx, 100*time.Millisecond)
	return true
}

// takePiece moves up to a piece out of a map.
func takePiece[T any](m map[string]T) map[string]T {
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

// writeRecords is the only one to write these records, so it looks at no condition but the role.
func (r *records) writeRecords(
	tx *state.Tx,
	pending map[string]write,
	commits map[string]*commit,
	service *bier.Status,
	asked []string,
) error {
	tx.Volatile() // after a crash routers are compared again
	for _, put := range pending {
		if err := put(tx); err != nil {
			return err
		}
	}
	for node, c := range commits {
		m, _ := r.data.managed.Get(tx.Snapshot(), node)
		m.Former, m.Hash, m.Since = nil, c.hash, time.Now().UTC()
		if err := r.data.managed.Put(tx, node, m); err != nil {
			return err
		}
	}
	for _, key := range asked {
		r.data.asked.Delete(tx, key)
	}
	if service != nil {
		return r.writeStatus(tx, bier.ServiceKey, service)
	}
	return nil
}

// writeStatus writes a record of a router or of the service; nil: it goes.
func (r *records) writeStatus(tx *state.Tx, key string, s *bier.Status) error {
	before, ok := r.data.status.Get(tx.Snapshot(), key)
	if s == nil {
		if ok {
			r.data.status.Delete(tx, key)
		}
		return nil
	}
	next := *s
	next.Epoch, next.Since = before.Epoch, time.Now().UTC().Truncate(time.Millisecond)
	if before.State == next.State && before.Reason == next.Reason {
		next.Since = before.Since
	}
	if ok && next.Same(before) {
		return nil
	}
	next.Epoch = r.term.Epoch()
	return r.data.status.Put(tx, key, next)
}
