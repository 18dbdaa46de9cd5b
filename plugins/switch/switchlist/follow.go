package switchlist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// quiet is how long after a change the file is read: editors write in steps. A change
// after that is a change of its own, so steady writing holds nothing up.
const quiet = 150 * time.Millisecond

// Follow keeps the list equal to its file until ctx ends; the holder of the role calls
// it. As long as there is no list the first default file that exists, or appears, is
// loaded. A list that requests have made is left alone. looked is called once the files
// were looked at.
//
// A change is known by the content of the file and by what was read before. Times of files say nothing: they are of
// another clock than ours, and behind it.
func (d *Database) Follow(
	ctx context.Context,
	term *state.Term,
	log *slog.Logger,
	looked func(),
) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("following the switch list: %w", err)
	}
	defer w.Close()
	watched := map[string]bool{}
	watch := func(path string) {
		dir := filepath.Dir(path)
		if path != "" &&
			!watched[dir] &&
			w.Add(dir) == nil { // a directory that is not there cannot be followed
			watched[dir] = true
		}
	}
	for _, p := range d.Files {
		watch(p)
	}
	first, _ := d.heads.Get(d.store.Now(), headKey)
	head := first
	look := time.After(0)
	for {
		loaded := d.Changed()
		before := head
		head, _ = d.heads.Get(d.store.Now(), headKey)
		watch(head.Path)
		if look == nil &&
			head.Generation != before.Generation &&
			head.Path != "" { // written, perhaps, before it was watched
			look = time.After(quiet)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-loaded:
		case err := <-w.Errors:
			log.Warn("following the switch list", "err", err)
		case e := <-w.Events:
			if look == nil &&
				(e.Name == head.Path || head.Generation == "" && slices.Contains(d.Files, e.Name)) {
				look = time.After(quiet)
			}
		case <-look:
			look = nil
			d.rereadFile(ctx, term, log, first.Generation)
			looked()
		}
	}
}

// rereadFile reads the file of the list, if it is another one than was read; as long as there
// is no list, the first default one that exists. first is the generation that was in force when this process began to
// follow the file.
func (d *Database) rereadFile(
	ctx context.Context,
	term *state.Term,
	log *slog.Logger,
	first string,
) {
	head, listed := d.heads.Get(d.store.Now(), headKey)
	paths := d.Files
	switch {
	case listed && head.Path == "":
		return
	case listed:
		changed, err := d.changedSince(ctx, term.Update, head, head.Generation != first)
		if err != nil {
			log.Warn(
				"the file of the switch list cannot be read; the stored list stays",
				"err",
				err,
			)
		}
		if !changed {
			return
		}
		paths = []string{head.Path}
	}
	l, err := d.loadFirst(ctx, term.Update, paths)
	switch {
	case err == nil:
		Report(log, l)
	case errors.Is(err, &fault.Error{Kind: fault.NotFound}):
		log.Info(
			"no switch list, so nothing is discovered; load one with switch:ReadDB",
			"err",
			err,
		)
	default:
		log.Warn("the switch list was not read again; the one in force stays", "err", err)
	}
}

// Report logs what a load gave, every bad line by itself.
func Report(log *slog.Logger, l Loaded) {
	log.Info(
		"switch list read",
		"path",
		l.Path,
		"switches",
		l.Switches,
		"problems",
		len(l.Problems),
	)
	for i, p := range l.Problems {
		if i == 100 {
			log.Warn("more problems in the switch list are not logged", "left", len(l.Problems)-i)
			break
		}
		log.Warn(p.Text, "file", p.File, "line", p.Line, "loaded", p.Loaded)
	}
}
