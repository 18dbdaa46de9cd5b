package large

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/internal/together"
)

// finishChange writes the change that a revision put in force to its keys, and removes its parts.
// Several processes may do it at once: a key that one has written is left by the others.
func (s *Store) finishChange(ctx context.Context, at datastore.Revision) error {
	s.finishing.Lock()
	defer s.finishing.Unlock()
	for {
		st, err := s.currentState()
		if err != nil {
			return err
		}
		sw, _ := st.Peek(projection.Staged, projection.SwitchKey)
		if sw.Revision != at {
			return nil
		}
		t := s.nextWrites(st, at)
		if len(t.Ops) == 0 {
			id := string(sw.Value)
			t.Ops = []datastore.Op{datastore.Delete(projection.Staged, projection.SwitchKey),
				datastore.Delete(projection.Staged, id), datastore.DeletePrefix(projection.Staged, id+"/")}
			t.Volatile = false
		}
		_, err = s.Store.Commit(ctx, t)
		switch {
		case err == nil:
		case errors.Is(err, datastore.ErrConflict): // somebody else was faster
			if _, err := s.Store.Barrier(ctx); err != nil {
				return err
			}
		case errors.Is(err, datastore.ErrTooBig) && s.keys.Load() > 1:
			s.keys.Store(s.keys.Load() / 2)
		default:
			return err
		}
	}
}

// nextWrites is the transaction that writes the next keys.
func (s *Store) nextWrites(st *projection.State, at datastore.Revision) datastore.Txn {
	t := datastore.Txn{
		Volatile: true,
		Compares: []datastore.Compare{switchAt(at)},
	}
	if by, ok := st.Writer(projection.Staged, projection.SwitchKey); ok {
		t.By = by.By
	}
	bytes := 0
	for u := range st.Unwritten() {
		if bytes += len(u.Key) + len(u.Value); len(t.Ops) > 0 &&
			(bytes > partBytes || len(t.Ops) >= int(s.keys.Load())) {
			break
		}
		t.Compares = append(
			t.Compares,
			datastore.Compare{
				Namespace: u.Namespace,
				Key:       u.Key,
				Revision:  u.Stored,
			},
		)
		t.Ops = append(
			t.Ops,
			datastore.Op{
				Namespace: u.Namespace,
				Key:       u.Key,
				Value:     u.Value,
				Delete:    u.Deleted,
			},
		)
	}
	return t
}

// carer finishes changes that their makers did not finish, and sweeps parts that were never
// put in force.
type carer struct {
	*Store
	shared bool                 // with other processes
	left   []string             // changes that an earlier process of an engine that is not shared has left
	first  map[string]time.Time // when parts were seen first, by the clock of this process
}

func (c *carer) runCarer(ctx context.Context) {
	for ctx.Err() == nil {
		st, err := c.currentState()
		if err != nil {
			return
		}
		if at := inForce(st); at != 0 {
			c.finishFor(ctx, at)
		} else {
			c.sweepParts(ctx, st)
		}
		c.waitForWork(ctx, st.Revision())
	}
}

// waitForWork returns when something was put in force, or is written, after a revision, when
// somebody waits for that, or when it is time to sweep.
func (c *carer) waitForWork(ctx context.Context, after datastore.Revision) {
	ctx, cancel := context.WithTimeout(ctx, abandoned)
	defer cancel()
	go func() {
		select {
		case <-c.wake:
			cancel()
		case <-ctx.Done():
		}
	}()
	_ = c.Watch(ctx, after, []datastore.Prefix{{
		Namespace: projection.Staged,
		Key:       projection.SwitchKey,
	}}, func(b datastore.Batch) error {
		if len(b.Events) > 0 {
			return errPassed
		}
		return nil
	})
}

// finishFor finishes a change when its maker had the time to do it.
func (c *carer) finishFor(ctx context.Context, at datastore.Revision) {
	if c.shared && together.Sleep(ctx, othersTime) != nil {
		return
	}
	err := c.finishChange(ctx, at)
	if err != nil && ctx.Err() == nil && !errors.Is(err, datastore.ErrClosed) {
		c.log.Warn(
			"a large change is in force but not written to its keys yet; trying again",
			"error",
			err,
		)
		_ = together.Sleep(ctx, time.Second)
		together.Notify(c.wake)
	}
}

// sweepParts removes parts that nobody will put in force.
func (c *carer) sweepParts(ctx context.Context, st *projection.State) {
	for _, id := range c.left {
		c.removeParts(ctx, id)
	}
	c.left = nil
	now := map[string]time.Time{}
	for _, id := range stagedIDs(st) {
		if now[id] = c.first[id]; now[id].IsZero() {
			now[id] = time.Now()
		}
		if time.Since(now[id]) >= abandoned {
			c.removeParts(ctx, id)
		}
	}
	c.first = now
}

// stagedIDs lists the changes of which there are parts.
func stagedIDs(st *projection.State) (ids []string) {
	for e, err := range st.Range(projection.Staged, datastore.RangeOptions{Shared: true}) {
		id, _, _ := strings.Cut(e.Key, "/")
		if err == nil && id != projection.SwitchKey && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
