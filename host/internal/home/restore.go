package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// restoring is there while a restore exchanges the parts of a home.
const restoring = ".restoring"

// Claim takes a home for this process without making anything in it but its data
// directory; ErrInUse when a controller runs in it.
func Claim(path string) (*Home, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("home: %w", err)
	}
	h := &Home{Dir: Dir(abs)}
	err = h.checkSockets()
	if err == nil && h.checkRestoreComplete() == nil { // else it is to be restored again
		err = h.checkIsHome()
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(h.Data(), 0o700); err != nil {
		return nil, withOwnerRemedy(fmt.Errorf("home: %w", err))
	}
	return h, withOwnerRemedy(h.takeLock())
}

// BeginRestore keeps controllers from starting in the home until EndRestore.
func (h *Home) BeginRestore() error {
	return WriteFile(h.Path(restoring), nil, 0o600)
}

// EndRestore lets controllers start in the home again.
func (h *Home) EndRestore() error {
	return os.Remove(h.Path(restoring))
}

// checkRestoreComplete refuses a home in which a restore was broken off.
func (h *Home) checkRestoreComplete() error {
	if _, err := os.Lstat(h.Path(restoring)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(
			"home: a restore of %s was interrupted: run ctl snapshot restore again; the former content is in before-restore-* in the home",
			string(h.Dir),
		)
	}
	return nil
}
