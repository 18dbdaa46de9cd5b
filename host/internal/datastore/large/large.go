// Package large makes a store take transactions of any size. One that does not fit into the
// engine is staged: its parts are written first, where nobody sees them, and one last
// transaction checks all conditions and puts them in force (projection.Staged). A process
// that ends before leaves parts that are swept, never a half of a change. One that ends
// after it leaves a change that every reader has whole, and that the next process, or
// another node, writes to its keys. Who wants to read or write one of these keys in a
// transaction waits for that.
package large

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// The bounds of what is written at once; an engine that takes fewer keys says so.
const (
	partBytes  = 512 << 10 // of a part, and of what is written to its keys
	keysAtOnce = 2048
)

const (
	// finishWait is how long a commit waits until its change is written to its keys.
	finishWait = time.Second
	// othersTime is how long another node is given to write its own change to its keys.
	othersTime = 3 * time.Second
	// abandoned is after what time parts that were never put in force are swept.
	abandoned = 10 * time.Minute
	// cleanTime bounds the removal of parts that are not needed.
	cleanTime = 2 * time.Second
)

// Store is an engine whose transactions may have any size.
type Store struct {
	datastore.Store
	log       *slog.Logger
	keys      atomic.Int64 // how many the engine takes in one transaction, as far as known
	finishing sync.Mutex
	wake      chan struct{}
	end       context.CancelFunc
	work      sync.WaitGroup
}

// Of returns the store of an engine, which Close closes too.
func Of(engine datastore.Store, log *slog.Logger) datastore.Store {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Store{
		Store: engine,
		log:   log,
		wake:  make(chan struct{}, 1),
		end:   cancel,
	}
	s.keys.Store(keysAtOnce)
	l, shared := engine.(datastore.Leases)
	c := carer{
		Store:  s,
		shared: shared,
		first:  map[string]time.Time{},
	}
	st, err := s.currentState()
	if err == nil && !shared { // no other process is at work on them
		c.left = stagedIDs(st)
	}
	s.work.Go(func() { c.runCarer(ctx) })
	if shared {
		return struct {
			*Store
			datastore.Leases
		}{s, l}
	}
	return s
}

// Close ends the work on staged changes and closes the engine.
func (s *Store) Close() error {
	s.end()
	s.work.Wait()
	return s.Store.Close()
}

// currentState is what this process knows; it does not change.
func (s *Store) currentState() (st *projection.State, err error) {
	_, err = s.Local(func(sn datastore.Snapshot) error {
		st, _ = sn.(*projection.State)
		return nil
	})
	if err == nil && st == nil {
		err = fault.New(fault.Internal, "the engine's snapshots are not of package projection")
	}
	return st, err
}

// inForce is the revision of the switch to the change in force, 0 if there is none.
func inForce(st *projection.State) datastore.Revision {
	e, _ := st.Peek(projection.Staged, projection.SwitchKey)
	return e.Revision
}

func switchAt(rev datastore.Revision) datastore.Compare {
	return datastore.Compare{
		Namespace: projection.Staged,
		Key:       projection.SwitchKey,
		Revision:  rev,
	}
}

// Commit implements datastore.Store. Each transaction has the condition that no other change
// was put in force than the one that this process knows.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	rev, err := s.commitSmall(ctx, t)
	if !errors.Is(err, datastore.ErrTooBig) || !isStageable(t) {
		return rev, err
	}
	return s.stageTransaction(ctx, t)
}

// isStageable reports whether a transaction can be staged: keys with leases cannot.
func isStageable(t datastore.Txn) bool {
	for _, o := range t.Ops {
		if o.Lease != 0 {
			return false
		}
	}
	return len(t.Ops) > 1
}

// commitSmall commits a transaction of the engine's size when no key of it is in a change that
// is not written yet.
func (s *Store) commitSmall(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	own := len(t.Compares)
	for {
		st, err := s.currentState()
		if err != nil {
			return 0, err
		}
		if st.Meets(t) {
			if err := s.waitUntilPassed(ctx, inForce(st)); err != nil {
				return 0, err
			}
			continue
		}
		conditional := t
		conditional.Compares = append(t.Compares[:own:own], switchAt(inForce(st)))
		rev, err := s.Store.Commit(ctx, conditional)
		var lost *datastore.ConflictError
		if !errors.As(err, &lost) || lost.Index != own {
			return rev, err
		}
		if _, err := s.Store.Barrier(ctx); err != nil { // then this process knows what was put in force
			return 0, err
		}
	}
}

var errPassed = errors.New("the change in force is another one")

// waitUntilPassed waits until the change that a revision put in force is written.
func (s *Store) waitUntilPassed(ctx context.Context, at datastore.Revision) error {
	together.Notify(s.wake)
	for {
		st, err := s.currentState()
		if err != nil || inForce(st) != at {
			return err
		}
		err = s.Watch(ctx, st.Revision(), []datastore.Prefix{{
			Namespace: projection.Staged,
			Key:       projection.SwitchKey,
		}},
			func(b datastore.Batch) error {
				if len(b.Events) > 0 {
					return errPassed
				}
				return nil
			})
		switch {
		case ctx.Err() != nil:
			return fault.Wrap(
				fault.Unavailable,
				ctx.Err(),
				"a large change of the same data is still being written: try again",
			)
		case !errors.Is(err, errPassed) && !errors.Is(err, datastore.ErrCompacted):
			return err
		}
	}
}

// stageTransaction writes the parts of a transaction and puts them in force.
func (s *Store) stageTransaction(
	ctx context.Context,
	t datastore.Txn,
) (rev datastore.Revision, err error) {
	id := rand.Text()
	head, err := s.Store.Commit(
		ctx,
		datastore.Txn{
			Ops:      []datastore.Op{datastore.Put(projection.Staged, id, nil)},
			Volatile: t.Volatile,
			By:       t.By,
		},
	)
	if err != nil {
		return 0, err
	}
	if err = s.writeParts(ctx, id, t); err == nil {
		rev, err = s.putInForce(ctx, id, head, t)
	}
	if err != nil {
		if fault.KindOf(err) != fault.Timeout { // else it may be in force
			s.removeParts(ctx, id)
		}
		return 0, err
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWait)
	defer cancel()
	if s.finishChange(bound, rev) == nil {
		return max(rev, s.Revision()), nil
	}
	together.Notify(s.wake)
	return rev, nil
}

func (s *Store) writeParts(ctx context.Context, id string, t datastore.Txn) error {
	for n, ops := 0, t.Ops; len(ops) > 0; n++ {
		most := fittingCount(len(ops), func(i int) int {
			return len(ops[i].Namespace) + len(ops[i].Key) + len(ops[i].Value)
		})
		part, err := projection.EncodePart(ops[:most])
		if err != nil {
			return err
		}
		_, err = s.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put(
			projection.Staged,
			projection.PartKey(id, n),
			part,
		)},
			Volatile: t.Volatile, By: t.By})
		if err != nil {
			return err
		}
		ops = ops[most:]
	}
	return nil
}

// fittingCount is how many of n things fit into one part, at least one.
func fittingCount(n int, size func(int) int) int {
	bytes := 0
	for i := range n {
		if bytes += size(i); bytes > partBytes && i > 0 {
			return i
		}
	}
	return n
}

// putInForce makes the parts the change in force, if all conditions hold.
func (s *Store) putInForce(
	ctx context.Context,
	id string,
	head datastore.Revision,
	t datastore.Txn,
) (datastore.Revision, error) {
	own := len(t.Compares)
	for {
		st, err := s.currentState()
		if err != nil {
			return 0, err
		}
		if at := inForce(st); at != 0 {
			if err := s.waitUntilPassed(ctx, at); err != nil {
				return 0, err
			}
			continue
		}
		if _, err := st.StagedOps(id); err != nil {
			return 0, err
		}
		last := datastore.Txn{
			Volatile: t.Volatile,
			By:       t.By,
			Ops: []datastore.Op{datastore.Put(
				projection.Staged,
				projection.SwitchKey,
				[]byte(id),
			)},
		}
		last.Compares = append(
			t.Compares[:own:own],
			switchAt(0),
			datastore.Compare{
				Namespace: projection.Staged,
				Key:       id,
				Revision:  head,
			},
		)
		rev, err := s.Store.Commit(ctx, last)
		var lost *datastore.ConflictError
		switch {
		case !errors.As(err, &lost) || lost.Index < own:
			return rev, err
		case lost.Index > own:
			return 0, fault.Wrap(
				fault.Unavailable,
				err,
				"the change was not made: writing its parts took longer than %s",
				abandoned,
			)
		}
		if _, err := s.Store.Barrier(ctx); err != nil {
			return 0, err
		}
	}
}

// removeParts deletes the parts of a change that is not in force.
func (s *Store) removeParts(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	_, err := s.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{
		datastore.Delete(projection.Staged, id), datastore.DeletePrefix(projection.Staged, id+"/")}})
	if err != nil && !errors.Is(err, datastore.ErrClosed) {
		s.log.Warn(
			"the parts of a large change that was not made stay in the datastore for now",
			"error",
			err,
		)
	}
}
