package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/snapshot"
	"ctl.internal/host/internal/home"
)

// Restore makes the store of a home from a snapshot. The store must not exist yet; with
// badger it appears as a whole or not at all.
func Restore(ctx context.Context, dir home.Dir, c home.Datastore, r io.ReadSeeker, log *slog.Logger) (snapshot.Info, error) {
	if c.Engine != "badger" {
		s, err := Store(ctx, dir, c, log)
		if err != nil {
			return snapshot.Info{}, err
		}
		info, err := snapshot.Restore(ctx, s, r)
		return info, errors.Join(err, s.Close())
	}
	// Remove takes an empty directory only.
	if err := os.Remove(dir.Store()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return snapshot.Info{}, fmt.Errorf("there is a datastore already: %w; stop the controller and move it away before you restore", err)
	}
	side := dir.Store() + ".restore"
	if err := os.RemoveAll(side); err != nil { // of one that was interrupted
		return snapshot.Info{}, err
	}
	s, err := badger.Open(badger.Options{Dir: side, History: c.History, Log: log})
	if err != nil {
		return snapshot.Info{}, err
	}
	info, err := snapshot.Restore(ctx, s, r)
	if err = errors.Join(err, s.Close()); err == nil {
		err = os.Rename(side, dir.Store())
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(side))
	}
	return info, err
}
