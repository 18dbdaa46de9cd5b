package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// turnFile is locked by the process that may change switches. When the plugin is
// replaced while it runs, two processes live for a moment; when one is killed, the
// kernel lets go of the lock.
const turnFile = "changes.lock"

// turnLook is the time between looks at the lock.
const turnLook = 25 * time.Millisecond

// Turn waits, beside the caller, until this process may change switches: until the
// one before it has ended. The channel is closed then. release ends the waiting, or
// the turn.
func Turn(dir string) (turn <-chan struct{}, release func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, turnFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("the lock of changes: %w", err)
	}
	have, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		t := time.NewTicker(turnLook)
		defer t.Stop()
		for {
			err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
			switch {
			case err == nil:
				close(have)
				return
			case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
				close(have) // a file system without locks: there is no reload on it either
				return
			}
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return have, func() { cancel(); <-ended; _ = f.Close() }, nil
}
