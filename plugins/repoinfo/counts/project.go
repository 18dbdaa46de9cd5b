package counts

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"ctl.internal/plugins/repoinfo/commit"
)

// Project is the counts of one project under one set of options.
type Project struct {
	table *table
	log   *slog.Logger

	users, used int // guarded by Store.mu

	mu      sync.Mutex
	file    *os.File
	write   func(*os.File, []byte) error
	retry   time.Time        // no writing before, after the disk was full
	pending map[Key]*batch   // being counted now, by anyone
	missing map[Key]struct{} // known to lack objects, until something new comes
}

// batch is a run of commits that someone counts; others wait for done.
type batch struct{ done chan struct{} }

const (
	maxMissing = 100_000
	writePause = 30 * time.Second
)

func newProject(hashSize int, log *slog.Logger) *Project {
	return &Project{table: newTable(hashSize), log: log, write: appendFile,
		pending: map[Key]*batch{}, missing: map[Key]struct{}{}}
}

// Get returns a commit's counts if they are known.
func (p *Project) Get(k Key) (commit.Lines, bool) { return p.table.get(&k) }

// Known sets the counts of commits if those of all are known at once.
func (p *Project) Known(commits []commit.Commit) bool {
	for i := range commits {
		c := &commits[i]
		key, ok := KeyOf(c.Hash)
		if !ok {
			return false
		}
		if c.Lines, ok = p.table.get(&key); !ok {
			return false
		}
		c.State = commit.Known
	}
	return true
}

// Len is the number of commits known.
func (p *Project) Len() int {
	p.table.mu.RLock()
	defer p.table.mu.RUnlock()
	return int(p.table.n)
}

// Missing is the number of commits whose counts cannot be told.
func (p *Project) Missing() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.missing)
}

// Add keeps entries in memory and on disk. A disk that does not take them is
// told in the log: the answer at hand does not suffer.
func (p *Project) Add(entries []Entry) {
	fresh := entries[:0:0]
	for i := range entries {
		if p.table.put(&entries[i]) {
			fresh = append(fresh, entries[i])
		}
	}
	if len(fresh) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil || time.Now().Before(p.retry) {
		return
	}
	if err := p.write(p.file, encode(fresh, p.table.size)); err != nil {
		p.retry = time.Now().Add(writePause)
		p.log.Warn("line counts could not be written and will be counted again after a restart", "error", err)
	}
}

func (p *Project) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.missing)
}

func (p *Project) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		if err := p.file.Close(); err != nil {
			p.log.Warn("closing the line counts failed", "error", err)
		}
		p.file = nil
	}
}
