package badger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// request is a transaction on its way to the writer, which answers every
// request that it has taken.
type request struct {
	ctx    context.Context
	txn    datastore.Txn
	at     datastore.Revision // at least
	answer chan answer
}

type answer struct {
	rev datastore.Revision
	err error
}

// Commit hands t to the writer. Transactions that wait together share one sync.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	return s.CommitAt(ctx, t, 0)
}

// CommitAt is Commit with a revision of at least at, for restoring a snapshot.
func (s *Store) CommitAt(ctx context.Context, t datastore.Txn, at datastore.Revision) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for _, o := range t.Ops {
		if o.Lease != 0 {
			return 0, fmt.Errorf("%w: this engine has no leases", datastore.ErrInvalid)
		}
	}
	r := &request{ctx: ctx, txn: t, at: at, answer: make(chan answer, 1)}
	select {
	case s.requests <- r:
		a := <-r.answer
		return a.rev, a.err
	case <-s.p.Done():
		return 0, datastore.ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

const (
	maxGroup    = 128                    // transactions that share one write
	flushEvery  = 500 * time.Millisecond // volatile transactions wait that long,
	maxUnsynced = 1 << 20                // or for that many bytes
)

// write is the only writer of the store; it ends with it.
func (s *Store) write() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush()
		case r := <-s.requests:
			s.commitAll(s.together(r))
		case <-s.p.Done():
			s.flush()
			return
		}
	}
}

// flush writes the volatile transactions; what cannot be written now is tried again.
func (s *Store) flush() {
	if len(s.unwritten) > 0 {
		if err := s.store(s.unwritten, s.waiting, s.meta); err != nil {
			s.opts.Log.Error("volatile transactions are not on the disk yet", "error", err)
		}
	}
}

// together adds to r those that wait at this moment.
func (s *Store) together(r *request) []*request {
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
			s.flush()
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
	at      time.Time
	state   *projection.State // with those of the group
	meta    meta
	batches []datastore.Batch
	members []*request
	answers []answer // of the members, when the group is written
	durable bool
	bytes   int64 // of Badger's transaction, with the volatile ones that wait
}

func (s *Store) newGroup() *group {
	return &group{s: s, at: time.Now(), state: s.p.State(), meta: s.meta, bytes: s.waiting}
}

// add resolves a request against the store with the group's earlier ones. A conflict is
// answered with the group, too: who hears of it must be able to read what it is with.
func (g *group) add(r *request) error {
	if err := errors.Join(r.ctx.Err(), g.s.failed); err != nil {
		return err
	}
	b, err := g.state.Resolve(r.txn, max(r.at, g.state.Revision()+1), g.at)
	if err != nil {
		g.members, g.answers = append(g.members, r), append(g.answers, answer{err: err})
		return nil
	}
	if len(b.Events) > 0 {
		size := cost(b)
		if db := g.s.db; g.bytes+size > db.MaxBatchSize()-partSize || (g.bytes+size)/entryCost > db.MaxBatchCount() {
			return errGroupFull
		}
		g.bytes += size
		g.count(b)
		g.state = g.state.Apply(b)
		g.batches = append(g.batches, b)
		g.durable = g.durable || !r.txn.Volatile
	}
	g.members, g.answers = append(g.members, r), append(g.answers, answer{rev: g.state.Revision()})
	return nil
}

// entryCost is what an entry takes beside its key and value, at least.
const entryCost = 128

// cost bounds what a transaction takes in Badger: each key twice, and the values twice
// when they are written into the log, too.
func cost(b datastore.Batch) int64 {
	n, values := entryCost+len(b.By), 0
	for _, e := range b.Events {
		n += 2*(entryCost+len(e.Namespace)+len(e.Key)) + (1+parts(len(e.Value)))*(entryCost+len(e.Namespace)+len(e.Key))
		values += len(e.Value)
	}
	if values <= inlineLimit {
		values *= 2
	}
	return int64(n + values)
}

// count brings the digest up to date with b, which is not applied yet.
func (g *group) count(b datastore.Batch) {
	for _, e := range b.Events {
		joined := projection.Join(e.Namespace, e.Key)
		if old, ok := g.state.Peek(e.Namespace, e.Key); ok {
			g.meta.keys--
			g.meta.sum.remove(hash(dataKind, joined, old.Revision, old.Value))
		}
		if !e.Deleted {
			g.meta.keys++
			g.meta.sum.add(hash(dataKind, joined, e.Revision, e.Value))
		}
	}
}

// finish writes the group, when one of it is not volatile, and answers.
func (g *group) finish() {
	err := g.commit()
	for i, r := range g.members {
		if err != nil {
			r.answer <- answer{err: err}
		} else {
			r.answer <- g.answers[i]
		}
	}
}

func (g *group) commit() error {
	s := g.s
	if len(g.batches) == 0 {
		return nil // nothing but transactions without effect
	}
	batches := append(s.unwritten, g.batches...) // kept only when it succeeds
	if g.durable || g.bytes > maxUnsynced {
		if err := s.store(batches, g.bytes, g.meta); err != nil {
			return err
		}
	} else {
		if err := s.fits(g.bytes); err != nil {
			return err
		}
		s.unwritten, s.waiting, s.meta = batches, g.bytes, g.meta
	}
	s.p.Publish(g.state)
	return nil
}

// store writes transactions, the log of them and what the store then holds; when it
// returns they are on the disk.
func (s *Store) store(batches []datastore.Batch, bytes int64, m meta) error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.fits(bytes); err != nil {
		return err
	}
	newest := batches[len(batches)-1].Revision
	records, long := s.dataOf(batches)
	records, drop, w := s.logOf(records, batches, &m)
	m.rev = newest
	records = append(records, record{metaKey, m.encode()})

	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	for _, r := range records {
		var err error
		if r.value == nil {
			err = txn.Delete(r.key)
		} else {
			err = txn.Set(r.key, r.value)
		}
		if err != nil {
			return fmt.Errorf("datastore: write: %w", err)
		}
	}
	if err := txn.Commit(); err != nil {
		// Nobody knows what the disk has now.
		s.failed = fmt.Errorf("datastore: the disk refuses to keep data, restart when it is repaired: %w", err)
		return s.failed
	}
	s.wrote(bytes)
	for joined, n := range long {
		if s.long[joined] = n; n == 0 {
			delete(s.long, joined)
		}
	}
	for _, old := range s.logs[:drop] {
		s.logSize -= old.size
	}
	s.logs, s.logSize = append(s.logs[drop:], w), s.logSize+w.size
	s.meta, s.unwritten, s.waiting = m, nil, 0
	if err := s.tip.set(newest); err != nil {
		s.failed = diskError(s.opts.Dir, err)
		return s.failed
	}
	return nil
}

// dataOf are the records of the keys that were touched, each as the last transaction left
// it, and those of them with further entries before or now.
func (s *Store) dataOf(batches []datastore.Batch) (records []record, long map[string]int) {
	last := map[string]datastore.Event{}
	for _, b := range batches {
		for _, e := range b.Events {
			last[projection.Join(e.Namespace, e.Key)] = e
		}
	}
	long = map[string]int{}
	records = make([]record, 0, len(last)+8)
	for joined, e := range last {
		before := s.long[joined]
		records = dataRecords(records, e, before)
		if now := parts(len(e.Value)); now > 0 || before > 0 {
			long[joined] = now
		}
	}
	return records, long
}

// maxLog bounds the bytes of the log on disk, beside the number of transactions.
const maxLog = 32 << 20

// logOf adds the log of the transactions, w, and removes the oldest that are no longer kept.
func (s *Store) logOf(in []record, batches []datastore.Batch, m *meta) (records []record, drop int, w logWrite) {
	first, last := batches[0].Revision, batches[len(batches)-1].Revision
	text := encodeBatches(batches)
	for i := range 1 + parts(len(text)) {
		in = append(in, record{logKey(first, i), part(text, i)})
	}
	w = logWrite{first, last, len(text), hash(logKind, "", first, text)}
	m.logs++
	m.sum.add(w.sum)
	size := s.logSize + w.size
	for ; drop < len(s.logs); drop++ {
		old := s.logs[drop]
		if old.last+datastore.Revision(s.opts.History) > last && size <= maxLog {
			break
		}
		for i := range 1 + parts(old.size) {
			in = append(in, record{key: logKey(old.first, i)})
		}
		m.logs--
		m.sum.remove(old.sum)
		size -= old.size
	}
	return in, drop, w
}
