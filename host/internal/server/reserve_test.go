package server

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/home"
)

// On a disk that is full the reserve gives what the store needs to take the write of an uninstall, and only then.
func TestTheReserveIsForAFullDisk(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if err := unix.Mount("tmpfs", string(dir), "tmpfs", 0, "size=300m"); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer, a disk that can be filled, cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(string(dir), unix.MNT_DETACH) })
	if err := os.MkdirAll(dir.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	keepReserve(dir)
	keepReserve(dir) // the next start
	useReserve(dir)
	if info, err := os.Stat(reservePath(dir)); err != nil || info.Size() != reserveSize {
		t.Fatalf("the reserve: %v, %v", info, err)
	}
	f, err := os.Create(filepath.Join(string(dir), "full"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for part := bytes.Repeat([]byte("x"), 1<<20); err == nil; {
		_, err = f.Write(part)
	}
	useReserve(dir)
	if free, err := freeOn(string(dir)); err != nil || free < reserveSize {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	keepReserve(dir)
	if _, err := os.Stat(reservePath(dir)); err == nil {
		t.Error("a reserve was taken from a disk that is nearly full")
	}
}
