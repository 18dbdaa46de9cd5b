package counts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// Options are what influences the counts of a commit besides its hash. Merges
// are always counted against their first parent.
type Options struct {
	Renames bool // detect renames (50 %), so that moved lines do not count
}

func (o Options) String() string {
	if o.Renames {
		return "renames"
	}
	return "plain"
}

// Store keeps the counts of all projects below one folder. Counts of projects
// in use are in memory; idle ones leave it when they get too many.
type Store struct {
	dir   string
	limit int
	log   *slog.Logger

	mu   sync.Mutex
	open map[string]*Project
	tick int
}

// NewStore makes a store below dir that keeps about limit bytes of idle counts
// in memory.
func NewStore(dir string, limit int, log *slog.Logger) *Store {
	return &Store{dir: dir, limit: limit, log: log, open: map[string]*Project{}}
}

// Use returns the counts of a project, to be released after use. hashSize is 20
// or 32 bytes. A file that cannot be used is told in the log, and the counts
// are then kept in memory only.
func (s *Store) Use(project string, o Options, hashSize int) (p *Project, release func()) {
	name := fmt.Sprintf("%s-%s-%d", digest(project), o, hashSize)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick++
	p = s.open[name]
	if p == nil {
		p = s.load(name, project, hashSize)
		s.open[name] = p
	}
	p.users++
	p.used = s.tick
	s.evict()
	return p, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.users--
		s.evict()
	})
}

func (s *Store) load(name, project string, hashSize int) *Project {
	p := newProject(hashSize, s.log.With("project", project))
	err := os.MkdirAll(s.dir, 0o700)
	var damaged int
	if err == nil {
		p.file, damaged, err = openFile(filepath.Join(s.dir, name+".counts"), hashSize, p.table.put)
	}
	if err != nil {
		s.log.Warn("line counts are kept in memory only", "project", project, "error", err)
	}
	if damaged > 0 {
		s.log.Warn("damaged line counts were left out and will be counted again", "project", project, "records", damaged)
	}
	return p
}

func (s *Store) evict() {
	for {
		total, oldest := 0, ""
		for name, p := range s.open {
			total += p.table.bytes()
			if p.users == 0 && (oldest == "" || p.used < s.open[oldest].used) {
				oldest = name
			}
		}
		if total <= s.limit || oldest == "" {
			return
		}
		s.open[oldest].close()
		delete(s.open, oldest)
	}
}

// Forget lets go of what is known to be missing in a project, after new objects
// have come.
func (s *Store) Forget(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, p := range s.open {
		if filepath.Base(name)[:digestSize] == digest(project) {
			p.forget()
		}
	}
}

// Close lets go of all files. Nothing may be in use.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, p := range s.open {
		p.close()
		delete(s.open, name)
	}
}

const digestSize = 32

// digest makes a file name of a project's name, whatever characters that has.
func digest(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:])[:digestSize]
}
