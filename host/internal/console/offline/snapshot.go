package offline

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/snapshot"
	"ctl.internal/sdk/commands"
)

// snapshotCommands are snapshot:save and snapshot:restore on a home without a controller.
func snapshotCommands(dir home.Dir) []commands.Command {
	return []commands.Command{
		{Name: "snapshot:save", Run: func(ctx context.Context, in *commands.Invocation) error { return saveStopped(ctx, dir, in) }},
		{Name: "snapshot:restore", Run: func(ctx context.Context, in *commands.Invocation) error {
			defer in.Progress(commands.Progress{})
			r, err := snapshot.Restore(ctx, string(dir), in.Arg("file"), func(done, total int64) {
				in.Progress(commands.Progress{Text: "restore, KiB", Done: done >> 10, Total: total >> 10})
			})
			if err != nil {
				return err
			}
			in.Progress(commands.Progress{})
			in.Printf("restored %s from the snapshot of %s at %s (revision %d)\n", dir, r.Head.Node, r.Head.Time.Format("2006-01-02 15:04:05 UTC"), r.Head.Revision)
			if r.Aside != "" {
				in.Printf("what was there before is in %s; remove it when you do not need it\n", r.Aside)
			}
			return nil
		}},
	}
}

// saveStopped saves a home in which no controller runs.
func saveStopped(ctx context.Context, dir home.Dir, in *commands.Invocation) (err error) {
	h, err := home.Claim(string(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	loaded, problems := home.Load(dir, os.Environ(), nil)
	if err := home.Fatal(problems); err != nil {
		return err
	}
	c := loaded.Datastore
	if c.Etcd.Password, err = encrypt.OpenBefore(dir, c.Etcd.Password); err != nil {
		return err
	}
	store, err := open.Store(ctx, dir, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	f, err := os.OpenFile(in.Arg("file"), os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	node, _ := os.Hostname()
	err = snapshot.Save(ctx, snapshot.Source{Dir: dir, Store: store, Version: "ctl", Node: node}, f, nil)
	return errors.Join(err, f.Close())
}
