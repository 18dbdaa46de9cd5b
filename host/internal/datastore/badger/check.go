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

// Check looks at the store in a directory as Open does before it lets the engine
// loose, and changes nothing. A store that does not exist yet is in order; ErrLocked
// says that a process is using it and nothing was looked at.
func Check(dir string) error {
	if err := accessible(dir, mayUse); err != nil {
		return err
	}
	lock, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	} else if err != nil {
		return fmt.Errorf("datastore: %w", err)
	} else {
		defer lock.Close()
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
			return fmt.Errorf("%w: %s", datastore.ErrLocked, dir)
		}
	}
	acknowledged, err := readTip(dir)
	if err != nil {
		return err
	}
	return preflight(Options{Dir: dir, History: defaultHistory}, acknowledged)
}
