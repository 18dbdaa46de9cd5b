package switchlist

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"ctl.internal/sdk/state"
)

// seen is what a node had in the file of the list, under its own path, while a list that another node read was put in
// force. Only a later difference from it is a change: until then it may be another file of that name.
type seen struct {
	Generation string `json:"generation"`
	Sum        string `json:"sum"`
}

// NoteFiles notes for each list that another node read what this node has in the file of that name, until ctx ends.
// Every node calls it, so that whichever holds the role later knows a change when it sees one.
func (d *Database) NoteFiles(ctx context.Context, log *slog.Logger) {
	first, _ := d.heads.Get(d.store.Now(), headKey)
	for ctx.Err() == nil {
		changed := d.Changed()
		err := d.noteFile(ctx, first.Generation)
		if err != nil && ctx.Err() == nil {
			log.Debug("the file of the switch list cannot be noted", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// noteFile notes the file for the list in force; first is the generation that was in force when the process began.
func (d *Database) noteFile(ctx context.Context, first string) error {
	head, _ := d.heads.Get(d.store.Now(), headKey)
	if head.Path == "" || head.Source == d.Source {
		return nil
	}
	_, err := d.changedSince(ctx, d.update, head, head.Generation != first)
	return err
}

// changedSince reports whether the file of the list in force differs from what was read of it before. live: the list
// was put in force while this process ran.
func (d *Database) changedSince(
	ctx context.Context,
	update updater,
	head Head,
	live bool,
) (bool, error) {
	text, err := readFile(head.Path)
	if err != nil {
		return false, err
	}
	now := sumOfText(text)
	if head.Source == d.Source {
		return now != head.Sum, nil
	}
	before, known := d.files.Get(d.store.Now(), d.Source)
	next := before
	switch {
	case now == head.Sum:
		next = seen{head.Generation, now}
	case known && before.Generation == head.Generation:
	case live && head.Place != "" && head.Place == placeOf(head.Path):
		next = seen{head.Generation, head.Sum} // the very file that was read
	default:
		next = seen{head.Generation, now}
	}
	if next != before {
		ctx, cancel := context.WithTimeout(ctx, storingTime)
		defer cancel()
		_, err := update(ctx, func(tx *state.Tx) error {
			return d.files.Put(tx, d.Source, next)
		})
		if err != nil {
			return false, err
		}
	}
	return now != next.Sum, nil
}

// placeOf identifies the directory of a file among all machines since they were started: files of one name in one
// directory are the same file. Empty: it cannot be said.
func placeOf(path string) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	id := fileID(filepath.Dir(path))
	if id == "" {
		return ""
	}
	return fmt.Sprintf("%s %s %s", strings.TrimSpace(string(boot)), id, filepath.Base(path))
}
