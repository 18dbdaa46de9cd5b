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

	"golang.org/x/sync/semaphore"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/sdk/fault"
)

// staleLock is the age at which a lock file in a mirror is one that a killed git left:
// no other program writes there, and git never holds a lock for so long.
const staleLock = time.Hour

// retryUnlocked lets git write to a mirror. When a stale lock keeps it from that, the lock is
// removed and git runs once more; one that is younger is reported with its remedy.
func retryUnlocked(dir string, write func() error) error {
	err := write()
	if !isLockError(err) {
		return err
	}
	removed, rerr := removeLocks(dir, time.Now().Add(-staleLock))
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	if removed > 0 {
		err = write()
	}
	if isLockError(err) {
		return fault.Wrap(fault.InUse, err,
			"%s: another git is at work in %s; if none is, one was killed there: remove the file (a sync does so when it is %v old)",
			fault.All(err)[0].Text, dir, staleLock)
	}
	return err
}

// isLockError says that git met the lock of another git.
func isLockError(err error) bool {
	return gitcmd.Said(err, ".lock': File exists")
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
	mu  sync.Mutex
	all map[string]*semaphore.Weighted // by project
}

const (
	everybody = 1 << 30                // readers that a gate has room for
	gatePause = 100 * time.Millisecond // between two tries of write
)

func (g *gates) gateOf(project string) *semaphore.Weighted {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[string]*semaphore.Weighted{}
	}
	if g.all[project] == nil {
		g.all[project] = semaphore.NewWeighted(everybody)
	}
	return g.all[project]
}

func (g *gates) acquireRead(ctx context.Context, project string) (release func(), err error) {
	gate := g.gateOf(project)
	if err := gate.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { gate.Release(1) }), nil
}

// acquireWrite waits until all readers have left. It does not queue, so that readers who come meanwhile go first: who
// removes objects has time.
func (g *gates) acquireWrite(ctx context.Context, project string) (release func(), err error) {
	gate := g.gateOf(project)
	for !gate.TryAcquire(everybody) {
		if err := together.Sleep(ctx, gatePause); err != nil {
			return nil, err
		}
	}
	return func() { gate.Release(everybody) }, nil
}
