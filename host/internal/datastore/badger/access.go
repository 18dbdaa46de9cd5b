package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// accessible tells files that this process may not use from damaged ones, which they
// look like to Badger: a controller that once ran as root leaves such behind, and
// nobody should be told to move his data away for that.
func accessible(dir string, may func(path string) error) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return refused(dir, err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if err := may(path); errors.Is(err, fs.ErrPermission) {
			return refused(path, err)
		}
	}
	return nil
}

func refused(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("datastore: %w", err)
	}
	return fmt.Errorf("datastore: %s belongs to another user, as when the controller once ran as root: stop it and chown -R the home to the user who runs it: %w", path, err)
}

// mayUse asks the kernel whether this process may read and write a file.
func mayUse(path string) error { return unix.Access(path, unix.R_OK|unix.W_OK) }
