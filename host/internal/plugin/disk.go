package plugin

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// diskEvery is how often the free space is looked at, and diskAll how many times as seldom the files of all plugins.
	diskEvery = 2 * time.Second
	diskAll   = 15
	// diskLow is the free space, in bytes, below which the plugin that has written most is stopped. The store refuses
	// writes below a quarter of it.
	diskLow = 64 << 20
	// diskGrown is how much a plugin must have written since the last look at all of them to be stopped for it.
	diskGrown = 8 << 20
	// maxFiles bounds the files of one plugin that are counted.
	maxFiles = 1 << 20
)

// watchDisk keeps plugins within the disk that they may take, until ctx ends.
func (m *Manager) watchDisk(ctx context.Context) {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		low := freeDiskBytes(m.options.DataDir) < diskLow
		if low || n%diskAll == 0 {
			m.checkDisk(low)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// checkDisk stops each plugin whose files take more than its quota. Where the disk is nearly full it stops the one that
// has written most since it was not.
func (m *Manager) checkDisk(low bool) {
	var most *supervisor
	var grown int64
	for _, s := range m.index.Load().plugins {
		used := diskUsage(s.dataDir()) + diskUsage(s.dir)
		quota := m.options.Disk
		if quota > 0 && used > quota {
			s.postEvent(evExceeded{fmt.Sprintf("its files in %s and its temporary directory have %d MiB, its quota is %d MiB (supervisor.disk): it was stopped; "+
				"remove what it does not need there, then start it again", s.dataDir(), used>>20, quota>>20)})
			continue
		}
		if !low {
			s.disk.Store(used)
			continue
		}
		more := used - s.disk.Load()
		if more > grown && s.cur.Load() != nil {
			most, grown = s, more
		}
	}
	if most != nil && grown >= diskGrown {
		most.postEvent(evExceeded{fmt.Sprintf("the disk of %s is full, and this plugin has written %d MiB of it since it was not: it was stopped; "+
			"remove what it does not need in %s, or uninstall it, then start it again", m.options.DataDir, grown>>20, most.dataDir())})
	}
}

// diskUsage is what the files below a directory take on the disk.
func diskUsage(dir string) (bytes int64) {
	files := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if files++; files > maxFiles {
			return filepath.SkipAll
		}
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what has gone meanwhile takes nothing
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += st.Blocks * 512
			}
		}
		return nil
	})
	return bytes
}

// freeDiskBytes is how many bytes may still be written where dir is, or would be.
func freeDiskBytes(dir string) int64 {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err == nil {
			return int64(st.Bavail) * int64(st.Bsize)
		}
		up := filepath.Dir(dir)
		if os.IsNotExist(err) && up != dir {
			dir = up
			continue
		}
		return 1 << 62 // a file system that does not say is trusted
	}
}
