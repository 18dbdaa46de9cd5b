package clones

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/sdk/fault"
)

// staleLock is the age at which a lock file in a mirror is one that a killed git left:
// no other program writes there, and git never holds a lock for so long.
const staleLock = time.Hour

// unlocked lets git write to a mirror. When a stale lock keeps it from that, the lock is
// removed and git runs once more; one that is younger is reported with its remedy.
func unlocked(dir string, write func() error) error {
	err := write()
	if !locked(err) {
		return err
	}
	removed, rerr := removeLocks(dir, time.Now().Add(-staleLock))
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	if removed > 0 {
		err = write()
	}
	if locked(err) {
		return fault.Wrap(fault.InUse, err,
			"%s: another git is at work in %s; if none is, one was killed there: remove the file (a sync does so when it is %v old)",
			fault.All(err)[0].Text, dir, staleLock)
	}
	return err
}

// locked says that git met the lock of another git.
func locked(err error) bool {
	exit := (*gitcmd.ExitError)(nil)
	return errors.As(err, &exit) && strings.Contains(exit.Stderr, ".lock': File exists")
}

// removeLocks removes the lock files made before a time. No reference of git's ends in
// .lock.
func removeLocks(dir string, before time.Time) (removed int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".lock") {
			return err
		}
		info, err := d.Info()
		if err != nil || info.ModTime().After(before) {
			return err
		}
		removed++
		return os.Remove(path)
	})
	return removed, err
}

// gates let any number of readers into a project, or one who removes objects.
// Fetching needs no gate: it adds objects, and moves all references at once.
type gates struct {
	mu   sync.Mutex
	open map[string]*gate
}

type gate struct {
	readers int
	closed  bool
	changed chan struct{}
}

func (g *gates) get(project string) *gate {
	if g.open == nil {
		g.open = map[string]*gate{}
	}
	p := g.open[project]
	if p == nil {
		p = &gate{changed: make(chan struct{})}
		g.open[project] = p
	}
	return p
}

func (g *gates) read(ctx context.Context, project string) (release func(), err error) {
	return g.enter(ctx, project, func(p *gate) bool {
		if p.closed {
			return false
		}
		p.readers++
		return true
	}, func(p *gate) { p.readers-- })
}

// write waits until there is no reader. Readers that arrive meanwhile go first: who
// removes objects has time.
func (g *gates) write(ctx context.Context, project string) (release func(), err error) {
	return g.enter(ctx, project, func(p *gate) bool {
		if p.closed || p.readers > 0 {
			return false
		}
		p.closed = true
		return true
	}, func(p *gate) { p.closed = false })
}

func (g *gates) enter(ctx context.Context, project string, try func(*gate) bool, leave func(*gate)) (func(), error) {
	for {
		g.mu.Lock()
		p := g.get(project)
		if try(p) {
			g.mu.Unlock()
			return sync.OnceFunc(func() {
				g.mu.Lock()
				defer g.mu.Unlock()
				leave(p)
				close(p.changed)
				p.changed = make(chan struct{})
				if p.readers == 0 && !p.closed {
					delete(g.open, project)
				}
			}), nil
		}
		changed := p.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
