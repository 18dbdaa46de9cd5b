package badger

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
)

func TestFilesOfAnotherUserAreNotDamage(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, 0)
	put(t, s, "k", "1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "MANIFEST")
	err := checkAccess(dir, func(path string) error {
		if path == foreign {
			return unix.EACCES
		}
		return nil
	})
	if !errors.Is(err, fs.ErrPermission) || errors.Is(err, datastore.ErrDamaged) || !strings.Contains(err.Error(), foreign) || !strings.Contains(err.Error(), "chown") {
		t.Errorf("got %v", err)
	}
	if err := checkAccess(dir, mayUse); err != nil {
		t.Errorf("our own files: %v", err)
	}
	if err := checkAccess(filepath.Join(dir, "none"), mayUse); err != nil {
		t.Errorf("no store yet: %v", err)
	}
}
