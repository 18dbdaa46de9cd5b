package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// RunLock is the right of one controller to a run directory, and to whatever bears the ID of it. The kernel releases it
// when the controller ends. A pid would not do: that of a controller in another PID namespace looks like one that has
// ended.
type RunLock struct {
	dir  string
	file *os.File
	id   string
	over sync.Once
}

// LockRunDir locks a run directory. It fails while another controller has it.
func LockRunDir(dir string) (*RunLock, error) {
	if err := ownProc(); err != nil {
		return nil, err
	}
	file, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	id, err := idOf(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return &RunLock{dir: dir, file: file, id: id}, nil
}

// ID names what the controllers of this run directory leave on the machine. Two of them can have the same one only
// after each other, because a locked file keeps its inode.
func (l *RunLock) ID() string { return l.id }

// Release releases the lock, and removes the directory, if that is asked and it holds nothing else.
func (l *RunLock) Release(remove bool) {
	l.over.Do(func() {
		if remove {
			_ = os.Remove(l.file.Name())
			_ = os.Remove(l.dir)
		}
		l.file.Close()
	})
}

// lockFile opens and locks a file that who had it locked before may remove.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf(
				"the run directory %s is in use by another controller: stop it, or choose another --home",
				filepath.Dir(path),
			)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
		}
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(mine, there) {
			return f, nil
		}
		f.Close()
	}
}

// idOf is the same for the same file until the machine is started again.
func idOf(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no inode", f.Name())
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", bootID(), st.Dev, st.Ino))
	return hex.EncodeToString(sum[:8]), nil
}

// bootID is of the time since the machine was started.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // empty: what is compared with it is not known to be of now
	return string(bytes.TrimSpace(b))
}

// pidNamespace is that of this process.
func pidNamespace() string {
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return ns
}

// ownProc refuses a /proc with the processes of another namespace. There the numbers of the plugins' processes are
// those of other processes, which would be read, limited and ended in their place.
func ownProc() error {
	const remedy = "mount it for this namespace (unshare --pid --fork --mount-proc)"
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Errorf("/proc is needed to supervise plugins: %w; %s", err, remedy)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(self)); err != nil || pid != os.Getpid() {
		return fmt.Errorf(
			"/proc shows the processes of another PID namespace (this process is %d there, and %d here): %s",
			pid,
			os.Getpid(),
			remedy,
		)
	}
	return nil
}
