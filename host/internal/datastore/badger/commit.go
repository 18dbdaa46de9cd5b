package badger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// request is a transaction on its way to the writer, which answers every
// request that it has taken.
type request struct {
	ctx    context.Context
	txn    datastore.Txn
	answer chan answer
}

type answer struct {
	rev datastore.Revision
	err error
}

// Commit hands t to the writer. Transactions that wait together share one sync.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := &request{ctx: ctx, txn: t, answer: make(chan answer, 1)}
	select {
	case s.requests <- r:
		a := <-r.answer
		return a.rev, a.err
	case <-s.done:
		return 0, datastore.ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// maxGroup bounds how many transactions wait for one sync.
const maxGroup = 128

// write is the only writer of the store; it ends with it.
func (s *Store) write() {
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.collect()
		case r := <-s.requests:
			s.commitAll(s.waiting(r))
		case <-s.done:
			return
		}
	}
}

// waiting adds to r those that wait at this moment.
func (s *Store) waiting(r *request) []*request {
	rs := []*request{r}
	for len(rs) < maxGroup {
		select {
		case r := <-s.requests:
			rs = append(rs, r)
		default:
			return rs
		}
	}
	return rs
}

func (s *Store) commitAll(rs []*request) {
	g := s.newGroup()
	for _, r := range rs {
		err := g.add(r)
		if errors.Is(err, errGroupFull) {
			g.finish()
			g = s.newGroup()
			if err = g.add(r); errors.Is(err, errGroupFull) {
				err = datastore.ErrTooBig
			}
		}
		if err != nil {
			r.answer <- answer{err: err}
		}
	}
	g.finish()
}

var errGroupFull = errors.New("badger: does not fit into this group any more")

// group is several transactions that become one Badger transaction and one sync.
type group struct {
	s       *Store
	txn     *badger.Txn
	rev     datastore.Revision // newest, with those of the group
	members []*request
	revs    []datastore.Revision
	durable bool
	large   bool // some value went to the value log
	count   int64
	size    int64
	bytes   int64 // of all keys and values
}

func (s *Store) newGroup() *group {
	return &group{s: s, txn: s.db.NewTransaction(true), rev: s.Revision()}
}

// add resolves a request against the store with the group's earlier ones.
func (g *group) add(r *request) error {
	if err := errors.Join(r.ctx.Err(), g.s.failed); err != nil {
		return err
	}
	b, err := engine.Resolve(writeView{snapshot{g.txn}}, r.txn, g.rev+1)
	if err != nil {
		return err
	}
	if len(b.Events) > 0 {
		if err := g.put(b); err != nil {
			return err
		}
		g.rev = b.Revision
		g.durable = g.durable || !r.txn.Volatile
	}
	g.members = append(g.members, r)
	g.revs = append(g.revs, g.rev)
	return nil
}

// record is one Badger write; a nil value deletes.
type record struct{ key, value []byte }

func (g *group) put(b datastore.Batch) error {
	db := g.s.db
	records := make([]record, 0, len(b.Events)+3)
	for _, e := range b.Events {
		r := record{key: dataKey(e.Namespace, e.Key)}
		if !e.Deleted {
			r.value = encodeData(e.Entry)
		}
		records = append(records, r)
	}
	records = append(records, record{logKey(b.Revision), encodeBatch(b)}, record{newestKey, encodeRevision(b.Revision)})
	if keep := datastore.Revision(g.s.opts.History); b.Revision > keep {
		records = append(records, record{key: logKey(b.Revision - keep)})
	}
	// Measured before the first write, because a Badger transaction that has
	// become too large cannot be taken back in part.
	count, size, bytes, large := g.count+int64(len(records)), g.size, g.bytes, g.large
	for _, r := range records {
		if int64(len(r.value)) > db.Opts().ValueLogFileSize/2 {
			return datastore.ErrTooBig
		}
		size += int64(len(r.key)) + 24
		bytes += int64(len(r.key)+len(r.value)) + 24
		if int64(len(r.value)) < db.Opts().ValueThreshold {
			size += int64(len(r.value))
		} else {
			large = true
		}
	}
	if count+2 >= db.MaxBatchCount() || size+64 >= db.MaxBatchSize() {
		return errGroupFull
	}
	for _, r := range records {
		var err error
		if r.value == nil {
			err = g.txn.Delete(r.key)
		} else {
			err = g.txn.Set(r.key, r.value)
		}
		if err != nil {
			return fmt.Errorf("datastore: write: %w", err)
		}
	}
	g.count, g.size, g.bytes, g.large = count, size, bytes, large
	return nil
}

// finish commits, syncs when one of the group asked for it, and answers.
func (g *group) finish() {
	defer g.txn.Discard()
	if len(g.members) == 0 {
		return
	}
	err := g.commit()
	for i, r := range g.members {
		if err != nil {
			r.answer <- answer{err: err}
		} else {
			r.answer <- answer{rev: g.revs[i]}
		}
	}
}

func (g *group) commit() error {
	s := g.s
	if g.rev == s.Revision() {
		return nil // nothing but transactions without effect
	}
	if err := s.fits(g); err != nil {
		return err
	}
	if err := g.txn.Commit(); err != nil {
		return fmt.Errorf("datastore: write: %w", err)
	}
	s.wrote(g)
	if g.durable {
		// After a failed sync nobody knows what the disk has: no more writes.
		if err := s.sync(g.large); err != nil {
			s.failed = fmt.Errorf("datastore: the disk refuses to keep data, restart when it is repaired: %w", err)
			return s.failed
		}
		if err := s.tip.set(g.rev); err != nil {
			return err
		}
	}
	s.rev.Store(uint64(g.rev))
	s.sig.Fire()
	return nil
}

// newest reads the newest revision at start.
func (s *Store) newest() (rev datastore.Revision, err error) {
	err = s.db.View(func(txn *badger.Txn) (err error) { rev, err = snapshot{txn}.newest(); return })
	return rev, err
}

// writeView is the state with the group's pending writes.
type writeView struct{ snapshot }

func (v writeView) Revision(ns, key string) (datastore.Revision, error) {
	e, err := v.Get(ns, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return 0, nil
	}
	return e.Revision, err
}

func (v writeView) Keys(ns, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item := range v.items(dataKey(ns, prefix), nil, false) {
			_, key := engine.Split(string(item.Key()[1:]))
			if !yield(key, nil) {
				return
			}
		}
	}
}
