package badger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
)

// checkAccess distinguishes files that this process may not use from damaged ones, which they
// look like to Badger: a controller that once ran as root leaves such files, and the remedy
// for them is not to move the data away.
func checkAccess(dir string, may func(path string) error) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return accessError(dir, err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if err := may(path); errors.Is(err, fs.ErrPermission) {
			return accessError(path, err)
		}
	}
	return nil
}

func accessError(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("datastore: %w", err)
	}
	return fmt.Errorf(
		"datastore: %s belongs to another user, as when the controller once ran as root: stop it and chown -R the home to the user who runs it: %w",
		path,
		err,
	)
}

// mayUse asks the kernel whether this process may read and write a file.
func mayUse(path string) error {
	return unix.Access(path, unix.R_OK|unix.W_OK)
}

const lockName = "ctl.lock"

// lockDir takes the store for this process, before anything in it is looked at.
// The lock goes with the process, however it ends.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, diskError(dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		f.Close()
		return nil, fmt.Errorf(
			"%w: %s is held by process %s; stop it first",
			datastore.ErrLocked,
			dir,
			strings.TrimSpace(string(pid)),
		)
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, diskError(dir, err)
	}
	return f, nil
}
