package reserve

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Dir makes a directory named PREFIX.NUMBER in the system's temporary directory and
// removes it when the test ends. Directories of that prefix whose owner was killed are
// removed, too. Its path is short, so sockets can lie in it; only this user may enter it.
//
// Unlike t.TempDir it does not fail the test when a server that was just killed still
// writes into it: the next caller removes the rest.
func Dir(t testing.TB, prefix string) string {
	t.Helper()
	dir, done, err := OpenDir(prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return dir
}

// OpenDir is Dir for a caller without a test, such as TestMain, which calls done.
func OpenDir(prefix string) (dir string, done func(), err error) {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+".*"))
	if err != nil {
		return "", nil, err
	}
	for _, dir := range old {
		if f, err := lockDirectory(dir); err == nil {
			_ = os.RemoveAll(dir)
			f.Close()
		}
	}
	for range 100 {
		dir, err = os.MkdirTemp("", prefix+".")
		if err != nil {
			return "", nil, err
		}
		// Between the making and the holding another caller may have removed it.
		if f, err := lockDirectory(dir); err == nil {
			return dir, func() { _ = os.RemoveAll(dir); f.Close() }, nil
		}
	}
	return "", nil, fmt.Errorf("no directory %s.* can be held in %s", prefix, os.TempDir())
}

// lockDirectory locks a directory until the file is closed or its process ends. It fails when
// somebody else has it, when it is another user's, or when it is gone.
func lockDirectory(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	mine, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Lstat(dir); err == nil && (!there.IsDir() || !os.SameFile(mine, there)) {
			err = os.ErrNotExist
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
