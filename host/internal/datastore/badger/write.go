package badger

import (
	"fmt"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// storeBatches writes transactions, the log of them and what the store then holds; when it
// returns they are on the disk.
func (s *Store) storeBatches(batches []datastore.Batch, bytes int64, m meta) error {
	if err := s.Failed(); err != nil {
		return err
	}
	if err := s.checkFits(bytes); err != nil {
		return err
	}
	if err := s.allocateLog(2 * bytes); err != nil { // with the log of transactions
		return err
	}
	newest := batches[len(batches)-1].Revision
	records, long := s.dataOf(batches)
	records, drop, w := s.logOf(records, batches, &m)
	m.Rev = newest
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
		return s.failDisk(err)
	}
	s.countWritten(bytes)
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
	if err := s.tip.setRevision(newest); err != nil {
		return s.failDisk(err)
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
		now := extraPartCount(len(e.Value))
		if now > 0 || before > 0 {
			long[joined] = now
		}
	}
	return records, long
}

// maxLog bounds the bytes of the log on disk, beside the number of transactions.
const maxLog = 32 << 20

// logOf adds the log of the transactions, w, and removes the oldest that are no longer kept.
func (s *Store) logOf(
	in []record,
	batches []datastore.Batch,
	m *meta,
) (records []record, drop int, w logWrite) {
	first, last := batches[0].Revision, batches[len(batches)-1].Revision
	text := encodeBatches(batches)
	for i := range 1 + extraPartCount(len(text)) {
		in = append(in, record{logKey(first, i), valuePart(text, i)})
	}
	w = logWrite{first, last, len(text), hashEntry(logKind, "", first, text)}
	m.Logs++
	m.Sum.addDigest(w.sum)
	size := s.logSize + w.size
	for ; drop < len(s.logs); drop++ {
		old := s.logs[drop]
		if old.last+datastore.Revision(s.opts.History) > last && size <= maxLog {
			break
		}
		for i := range 1 + extraPartCount(old.size) {
			in = append(in, record{key: logKey(old.first, i)})
		}
		m.Logs--
		m.Sum.removeDigest(old.sum)
		size -= old.size
	}
	return in, drop, w
}
