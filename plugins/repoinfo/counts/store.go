// Package counts finds out how many lines each commit changed. It asks git once per
// commit and keeps the answer in a key-value file (bbolt), by the commit's hash and by
// all that influences the counts besides it; an entry therefore never changes.
package counts

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"ctl.internal/plugins/repoinfo/commit"
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

// Store keeps counts in one file.
type Store struct {
	db  *bbolt.DB // nil = the file cannot be used, nothing is kept over a restart
	log *slog.Logger

	mu      sync.Mutex
	fresh   map[string]map[string]commit.Lines // by bucket and hash, not yet written
	size    int                                // of fresh
	pending map[string]chan struct{}           // by bucket and hash: being counted now
}

// flushAt is how many counts are written in one transaction, which costs a sync of the disk.
const flushAt = 16 << 10

// Close writes what is not yet written.
func (s *Store) Close() {
	s.Flush()
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			s.log.Warn("closing the line counts failed", "error", err)
		}
	}
}

// Look sets the counts of the commits that have been counted, and returns the number of
// those that have not.
func (s *Store) Look(o Options, commits []commit.Commit) (unknown int) {
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
	if s.db == nil || len(rest) == 0 {
		return len(rest)
	}
	unknown = len(rest)
	err := safely(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(name))
			if b == nil {
				return nil
			}
			var key [32]byte
			for _, i := range rest {
				c := &commits[i]
				n, err := hex.Decode(key[:], c.Hash[:min(len(c.Hash), 64)])
				if err != nil {
					continue
				}
				if l, ok := decode(b.Get(key[:n])); ok {
					c.State, c.Lines = commit.Known, l
					unknown--
				}
			}
			return nil
		})
	})
	if err != nil {
		s.log.Warn("line counts could not be read", "error", err)
	}
	return unknown
}

// add keeps the counts of the commits at an index.
func (s *Store) add(bucket string, commits []commit.Commit, index []int) {
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

// Flush writes what is not yet written. A disk that does not take it is logged; the
// answer at hand does not suffer.
func (s *Store) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == 0 {
		return
	}
	if s.db != nil {
		err := safely(func() error { return s.db.Update(s.write) })
		if err != nil {
			s.log.Warn("line counts could not be written and will be counted again", "file", s.db.Path(), "error", err)
		}
	}
	clear(s.fresh)
	s.size = 0
}

func (s *Store) write(tx *bbolt.Tx) error {
	for name, fresh := range s.fresh {
		b, err := tx.CreateBucketIfNotExists([]byte(name))
		if err != nil {
			return err
		}
		for hash, l := range fresh {
			key, err := hex.DecodeString(hash)
			if err != nil {
				return err
			}
			if err := b.Put(key, encode(l)); err != nil {
				return err
			}
		}
	}
	return nil
}

func encode(l commit.Lines) []byte {
	b := binary.AppendUvarint(nil, l.Insertions)
	b = binary.AppendUvarint(b, l.Deletions)
	return binary.AppendUvarint(b, l.Files)
}

func decode(b []byte) (l commit.Lines, ok bool) {
	for _, to := range []*uint64{&l.Insertions, &l.Deletions, &l.Files} {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return l, false
		}
		*to, b = v, b[n:]
	}
	return l, len(b) == 0
}

// Secret returns random bytes that stay the same over restarts.
func (s *Store) Secret(name string, random func() []byte) []byte {
	secret := random()
	if s.db == nil {
		return secret
	}
	err := safely(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("secrets"))
			if err != nil {
				return err
			}
			if have := b.Get([]byte(name)); len(have) == len(secret) {
				copy(secret, have)
				return nil
			}
			return b.Put([]byte(name), secret)
		})
	})
	if err != nil {
		s.log.Warn("a secret is not kept over a restart", "file", s.db.Path(), "error", err)
	}
	return secret
}

// Open opens or makes the file counts.db below dir. A file that cannot be used is
// logged, and made again when it is damaged: everything in it can be counted again.
func Open(dir string, log *slog.Logger) *Store {
	s := &Store{log: log, fresh: map[string]map[string]commit.Lines{}, pending: map[string]chan struct{}{}}
	path := filepath.Join(dir, "counts.db")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		s.db, err = open(path)
	}
	if errors.Is(err, errDamaged) {
		log.Warn("the line counts are damaged and will be counted again", "file", path, "error", err)
		if err = os.Remove(path); err == nil || errors.Is(err, os.ErrNotExist) {
			s.db, err = open(path)
		}
	}
	if err != nil {
		log.Warn("line counts are not kept over a restart", "file", path, "error", err)
	}
	return s
}

var errDamaged = errors.New("the file cannot be read")

// open opens the file, which reads all of its pages. bbolt panics at some damages, in
// goroutines of its own too: the mark shows the next start that this one ended here.
func open(path string) (db *bbolt.DB, err error) {
	mark := path + ".opening"
	if _, err := os.Lstat(mark); err == nil {
		return nil, errors.Join(errDamaged, os.Remove(mark))
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return nil, err
	}
	err = safely(func() (err error) { // a panic leaves the file open, but the caller removes it
		db, err = bbolt.Open(path, 0o600,
			&bbolt.Options{Timeout: 10 * time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
		return err
	})
	if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, bbolterrors.ErrTimeout) {
		err = errors.Join(errDamaged, err)
	}
	return db, errors.Join(err, os.Remove(mark))
}

// safely turns the panics that bbolt has for damaged pages into errors, and the faults
// of a file that is shorter than its pages say.
func safely(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return do()
}
