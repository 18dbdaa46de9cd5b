package badger

import (
	"context"
	"errors"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// request is a transaction that waits to be written. Whoever writes it answers it.
type request struct {
	ctx    context.Context
	txn    datastore.Txn
	result answer // when the group is written
	answer chan answer
}

type answer struct {
	rev datastore.Revision
	err error
}

// Commit writes t, with whatever else waits, or has another caller write it.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := projection.NoLeases(t); err != nil {
		return 0, err
	}
	r := &request{
		ctx:    ctx,
		txn:    t,
		answer: make(chan answer, 1),
	}
	select {
	case s.queue <- r: // another caller writes it
	case s.writing <- struct{}{}:
		s.commitAll(projection.Together(r, s.queue, maxGroup))
		<-s.writing
	case <-s.Done():
		return 0, datastore.ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	a := <-r.answer
	return a.rev, a.err
}

const (
	maxGroup    = 128                    // transactions that share one write
	flushEvery  = 500 * time.Millisecond // volatile transactions wait that long,
	maxUnsynced = 1 << 20                // or for that many bytes
)

// flushVolatile writes volatile transactions that no durable one takes along.
func (s *Store) flushVolatile() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.Done():
			return
		}
		select {
		case s.writing <- struct{}{}:
			s.writeUnwritten()
			<-s.writing
		case <-s.Done():
			return
		}
	}
}

// writeUnwritten writes the volatile transactions; what cannot be written now is tried again.
func (s *Store) writeUnwritten() {
	if len(s.unwritten) > 0 {
		if err := s.storeBatches(s.unwritten, s.waiting, s.meta); err != nil {
			s.opts.Log.Error("volatile transactions are not on the disk yet", "error", err)
		}
	}
}

func (s *Store) commitAll(rs []*request) {
	g := s.newGroup()
	for _, r := range rs {
		err := g.addRequest(r)
		if errors.Is(err, errGroupFull) {
			g.finish()
			s.writeUnwritten()
			g = s.newGroup()
			if err = g.addRequest(r); errors.Is(err, errGroupFull) {
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
	at      time.Time
	state   *projection.State // with those of the group
	meta    meta
	batches []datastore.Batch
	members []*request
	durable bool
	bytes   int64 // of Badger's transaction, with the volatile ones that wait
}

func (s *Store) newGroup() *group {
	return &group{
		s:     s,
		at:    time.Now(),
		state: s.State(),
		meta:  s.meta,
		bytes: s.waiting,
	}
}

// addRequest resolves a request against the store with the group's earlier ones. A conflict is
// answered with the group, too: who hears of it must be able to read what it is with.
func (g *group) addRequest(r *request) error {
	if err := errors.Join(r.ctx.Err(), g.s.Failed()); err != nil {
		return err
	}
	b, err := g.state.Resolve(r.txn, g.state.Revision()+1, g.at)
	if err != nil {
		r.result.err = err
		g.members = append(g.members, r)
		return nil
	}
	if len(b.Events) > 0 {
		size := transactionCost(b)
		db := g.s.db
		if g.bytes+size > db.MaxBatchSize()-partSize ||
			(g.bytes+size)/entryCost > db.MaxBatchCount() {
			return errGroupFull
		}
		g.bytes += size
		g.updateDigest(b)
		g.state = g.state.Apply(b)
		g.batches = append(g.batches, b)
		g.durable = g.durable || !r.txn.Volatile
	}
	r.result.rev = g.state.Revision()
	g.members = append(g.members, r)
	return nil
}

// entryCost is what an entry takes beside its key and value, at least.
const entryCost = 128

// transactionCost bounds what a transaction takes in Badger: each key twice, and the values twice
// when they are written into the log, too.
func transactionCost(b datastore.Batch) int64 {
	n, values := entryCost+len(b.By), 0
	for _, e := range b.Events {
		n += 2*(entryCost+len(e.Namespace)+len(e.Key)) + (1+extraPartCount(len(e.Value)))*(entryCost+len(e.Namespace)+len(e.Key))
		values += len(e.Value)
	}
	if values <= inlineLimit {
		values *= 2
	}
	return int64(n + values)
}

// updateDigest brings the digest up to date with b, which is not applied yet.
func (g *group) updateDigest(b datastore.Batch) {
	for _, e := range b.Events {
		joined := projection.Join(e.Namespace, e.Key)
		if old := g.state.Stored(e.Namespace, e.Key); old != nil {
			g.meta.Keys--
			g.meta.Sum.removeDigest(hashEntry(dataKind, joined, old.Revision, old.Value))
		}
		if !e.Deleted {
			g.meta.Keys++
			g.meta.Sum.addDigest(hashEntry(dataKind, joined, e.Revision, e.Value))
		}
	}
}

// finish writes the group, when one of it is not volatile, and answers.
func (g *group) finish() {
	err := g.commit()
	for _, r := range g.members {
		if err != nil {
			r.result = answer{err: err}
		}
		r.answer <- r.result
	}
}

func (g *group) commit() error {
	s := g.s
	if len(g.batches) == 0 {
		return nil // nothing but transactions without effect
	}
	batches := append(s.unwritten, g.batches...) // kept only when it succeeds
	if g.durable || g.bytes > maxUnsynced {
		if err := s.storeBatches(batches, g.bytes, g.meta); err != nil {
			return err
		}
	} else {
		if err := s.checkFits(g.bytes); err != nil {
			return err
		}
		s.unwritten, s.waiting, s.meta = batches, g.bytes, g.meta
	}
	s.Publish(g.state)
	return nil
}
