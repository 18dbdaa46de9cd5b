package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ctl.internal/host/internal/datastore"
)

// Check looks at the store in a directory as Open does, and changes nothing in it. A store
// that does not exist yet is in order; ErrLocked says that a process is using it and
// nothing was looked at.
func Check(dir string) error {
	if err := accessible(dir, mayUse); err != nil {
		return err
	}
	lock, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		if !exists(dir) {
			return nil
		}
	} else if err != nil {
		return diskError(dir, err)
	} else {
		defer lock.Close()
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
			return fmt.Errorf("%w: %s", datastore.ErrLocked, dir)
		}
	}
	scratch, err := os.MkdirTemp("", "ctl-check")
	if err != nil {
		return diskError(os.TempDir(), err)
	}
	defer os.RemoveAll(scratch)
	return verify(dir, scratch)
}
