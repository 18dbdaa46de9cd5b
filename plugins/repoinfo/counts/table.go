// Package counts finds out how many lines each commit changed. It asks git once per
// commit and keeps the answer in the file of package jobs, by the commit's hash and by
// all that influences the counts besides it; an entry therefore never changes.
package counts

import (
	"encoding/binary"
	"encoding/hex"
	"sync"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/jobs"
)

// Options are what influences the counts of a commit besides its hash. Merges
// are always counted against their first parent.
type Options struct {
	Renames bool   // detect renames (50 %), so that moved lines do not count
	View    string // history.Repo.View: grafts, replacements and attributes of the repository
}

// bucket names the entries that were counted with the same options.
func (o Options) bucket() string {
	if o.Renames {
		return "renames " + o.View
	}
	return "plain " + o.View
}

// Table has the counts of commits.
type Table struct {
	jobs *jobs.Store

	mu      sync.Mutex
	fresh   map[string]map[string]commit.Lines // by bucket and hash, not yet written
	size    int                                // of fresh
	pending map[string]chan struct{}           // by bucket and hash: being counted now
}

// flushAt is how many counts are written in one transaction, which costs a sync of the disk.
const flushAt = 16 << 10

// NewTable makes a table whose counts are kept in a store, and written when that is closed.
func NewTable(store *jobs.Store) *Table {
	s := &Table{
		jobs:    store,
		fresh:   map[string]map[string]commit.Lines{},
		pending: map[string]chan struct{}{},
	}
	store.BeforeClose(s.Flush)
	return s
}

// Look sets the counts of the commits that have been counted, and returns the number of
// those that have not.
func (s *Table) Look(o Options, commits []commit.Commit) (unknown int) {
	name := o.bucket()
	var rest []int
	s.mu.Lock()
	fresh := s.fresh[name]
	for i := range commits {
		if l, ok := fresh[string(commits[i].Hash)]; ok {
			commits[i].State, commits[i].Lines = commit.Known, l
		} else if commits[i].State != commit.Known {
			commits[i].State = commit.Unknown
			rest = append(rest, i)
		}
	}
	s.mu.Unlock()
	unknown = len(rest)
	if unknown == 0 {
		return 0
	}
	s.jobs.ReadValues(name, func(look func([]byte) []byte) {
		var key [32]byte
		for _, i := range rest {
			c := &commits[i]
			n, err := hex.Decode(key[:], c.Hash[:min(len(c.Hash), 64)])
			if err != nil {
				continue
			}
			if l, ok := decodeLines(look(key[:n])); ok {
				c.State, c.Lines = commit.Known, l
				unknown--
			}
		}
	})
	return unknown
}

// add keeps the counts of the commits at an index.
func (s *Table) add(bucket string, commits []commit.Commit, index []int) {
	s.mu.Lock()
	fresh := s.fresh[bucket]
	if fresh == nil {
		fresh = map[string]commit.Lines{}
		s.fresh[bucket] = fresh
	}
	for _, i := range index {
		if commits[i].State == commit.Known {
			fresh[string(commits[i].Hash)] = commits[i].Lines
			s.size++
		}
	}
	full := s.size >= flushAt
	s.mu.Unlock()
	if full {
		s.Flush()
	}
}

// Flush writes what is not yet written.
func (s *Table) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make([]jobs.Value, 0, s.size)
	for name, fresh := range s.fresh {
		for hash, l := range fresh {
			key, err := hex.DecodeString(hash)
			if err == nil { // git prints nothing else
				values = append(values, jobs.Value{
					Bucket: name,
					Key:    key,
					Value:  encodeLines(l),
				})
			}
		}
	}
	s.jobs.WriteValues(values)
	clear(s.fresh)
	s.size = 0
}

func encodeLines(l commit.Lines) []byte {
	b := binary.AppendUvarint(nil, l.Insertions)
	b = binary.AppendUvarint(b, l.Deletions)
	return binary.AppendUvarint(b, l.Files)
}

func decodeLines(b []byte) (l commit.Lines, ok bool) {
	for _, to := range []*uint64{&l.Insertions, &l.Deletions, &l.Files} {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return l, false
		}
		*to, b = v, b[n:]
	}
	return l, len(b) == 0
}
