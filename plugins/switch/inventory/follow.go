package inventory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"ctl.internal/sdk/fault"
)

// settle is how long after a change the file is read: editors write in steps. A
// change after that is a change of its own, so steady writing holds nothing up.
const settle = 150 * time.Millisecond

// LoadFirst loads the first of the files that exists. That none does is a
// fault.NotFound naming all of them.
func (v *Inventory) LoadFirst(ctx context.Context, paths []string) (Loaded, error) {
	for _, p := range paths {
		l, err := v.Load(ctx, p)
		if err == nil || !errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
			return l, err
		}
	}
	return Loaded{}, fault.New(fault.NotFound, "there is no switch list; looked for %v", paths)
}

// Follow loads the first of the files that exists, again after each change, until
// ctx ends. A file loaded by hand (Load) is followed too. log gets what happens.
func (v *Inventory) Follow(ctx context.Context, paths []string, log *slog.Logger) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("following the switch list: %w", err)
	}
	defer w.Close()
	watched := map[string]bool{}
	watch := func(path string) (begun bool) {
		dir := filepath.Dir(path)
		if watched[dir] || w.Add(dir) != nil { // a directory that is not there cannot be followed
			return false
		}
		watched[dir] = true
		return true
	}
	for _, p := range paths {
		watch(p)
	}
	var settled <-chan time.Time // nil: nothing has changed
	for {
		loaded, current := v.Changed(), v.Last().Path
		if current != "" && watch(current) && v.outdated() {
			settled = time.After(settle)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-loaded:
		case err := <-w.Errors:
			log.Warn("following the switch list", "err", err)
		case e := <-w.Events:
			if settled == nil && (e.Name == current || current == "" && !v.Last().Stored && slices.Contains(paths, e.Name)) {
				settled = time.After(settle)
			}
		case <-settled:
			settled = nil
			if v.Last().Stored {
				continue // changed by a request since: the file does not count any more
			}
			v.reload(ctx, paths, current, log)
		}
	}
}

// outdated reports whether the file in use was written after it was loaded. The
// file system's clock may be a little behind.
func (v *Inventory) outdated() bool {
	l := v.Last()
	st, err := os.Stat(l.Path)
	return err == nil && st.ModTime().After(l.At.Add(-20*time.Millisecond))
}

// reload reads the file in use again; as long as there is none, a default one that
// has appeared.
func (v *Inventory) reload(ctx context.Context, paths []string, current string, log *slog.Logger) {
	if current != "" {
		paths = []string{current}
	}
	l, err := v.LoadFirst(ctx, paths)
	if err != nil {
		log.Warn("the switch list was not read again; the one in memory stays", "err", err)
		return
	}
	Report(log, l)
}

// Report logs what a load gave, every bad line by itself.
func Report(log *slog.Logger, l Loaded) {
	log.Info("switch list read", "path", l.Path, "switches", l.Switches, "problems", len(l.Problems))
	for i, p := range l.Problems {
		if i == 100 {
			log.Warn("more problems in the switch list are not logged", "left", len(l.Problems)-i)
			break
		}
		log.Warn(p.Text, "file", p.File, "line", p.Line, "loaded", p.Loaded)
	}
}
