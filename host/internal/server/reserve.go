package server

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/home"
)

// reserveSize is the space on the disk, in bytes, that is kept for feature:uninstall: what the store needs to take a write,
// and some for the write.
const reserveSize = roomNeeded + 16<<20

// keepReserve takes the reserve if the disk has room for it several times. It is no fault when it has not.
func keepReserve(dir home.Dir) {
	path := reservePath(dir)
	if info, err := os.Stat(path); err == nil && info.Size() == reserveSize {
		return
	}
	if free, err := freeOn(string(dir)); err != nil || free < 8*reserveSize {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, reserveSize)
	if closing := f.Close(); err != nil || closing != nil {
		_ = os.Remove(path)
	}
}

// useReserve gives the reserve free for a change that makes room, if the disk is full.
func useReserve(dir home.Dir) {
	free, err := freeOn(string(dir))
	if err == nil && free < 2*roomNeeded {
		_ = os.Remove(reservePath(dir))
	}
}

func reservePath(dir home.Dir) string {
	return filepath.Join(dir.Data(), "reserve")
}
