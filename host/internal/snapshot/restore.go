package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
)

// Namespace has what a restore leaves for the controllers: RestoredKey holds the head of
// the snapshot. IDKey, the name of the store, is made by the first controller.
const (
	Namespace   = "cluster"
	RestoredKey = "restored"
	IDKey       = "id"
)

// Result of a restore.
type Result struct {
	Head  Head   `json:"snapshot"`
	Aside string `json:"aside,omitempty"` // where the files of the home before are
}

// checkSnapshot reads a snapshot to its end; total is the bytes of the datastore in it.
func checkSnapshot(file string, in io.Reader) (head Head, total int64, err error) {
	head, err = walkSnapshot(file, in, visit{part: func(content []byte) error {
		total += int64(len(content))
		err := eachPartEntry(content, func(string, string, []byte) error { return nil })
		if err != nil {
			return damagedError(file, "%v", err)
		}
		return nil
	}})
	return head, total, err
}

// replaced are the parts of a home that a restore puts aside and makes new.
var replaced = []string{"etc", "configuration", "features.yaml", "features.d", "data"}

// Restore makes the home of the snapshot in file. Everything is checked and written beside
// first; the parts that are replaced go to a directory of their own in the home. With etcd
// the datastore must have no data under its prefix.
func Restore(
	ctx context.Context,
	dir, file string,
	progress func(done, total int64),
) (r Result, err error) {
	in, err := home.OpenRegular(file)
	if err != nil {
		return r, err
	}
	defer in.Close()
	head, total, err := checkSnapshot(file, in)
	if r.Head = head; err != nil {
		return r, err
	}
	h, err := home.Claim(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	stage := home.Dir(h.Path(".restore"))
	if err := os.RemoveAll(string(stage)); err != nil { // of one that was broken off
		return r, err
	}
	if err := os.Mkdir(string(stage), 0o700); err != nil {
		return r, err
	}
	defer os.RemoveAll(string(stage))
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return r, err
	}
	if err := fillStage(ctx, stage, file, in, r.Head, total, progress); err != nil {
		return r, err
	}
	if err := chownToHomeUser(string(h.Dir), string(stage)); err != nil {
		return r, err
	}
	r.Aside, err = swapHome(h, stage)
	return r, err
}

// fillStage writes the files and the datastore of a snapshot into a directory.
func fillStage(
	ctx context.Context,
	stage home.Dir,
	file string,
	in io.ReadSeeker,
	head Head,
	total int64,
	progress func(done, total int64),
) error {
	if _, err := walkSnapshot(file, in, visit{file: func(name string, mode int64, content []byte) error {
		at := stage.Path(name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		return home.WriteFile(at, content, fs.FileMode(mode)&0o777)
	}}); err != nil {
		return err
	}
	for _, name := range []string{"etc", "data", "features.d", "configuration/ssl"} {
		if err := os.MkdirAll(stage.Path(name), 0o700); err != nil {
			return err
		}
	}
	loaded, problems := home.Load(stage, os.Environ(), nil)
	if err := home.Fatal(problems); err != nil {
		return fmt.Errorf("the settings in the snapshot: %w", err)
	}
	settings := loaded.Datastore
	var err error
	if settings.Etcd.Password, err = encrypt.OpenBefore(stage, settings.Etcd.Password); err != nil {
		return fmt.Errorf("datastore.etcd.password: %w", err)
	}
	err = loadDatastore(ctx, stage, settings, file, in, head, total, progress)
	if err != nil && settings.Shared {
		err = fmt.Errorf("%w (etcd must have no data under the prefix %s: stop all controllers that use it and delete it with etcdctl del --prefix %[2]s, "+
			"or give the controllers another datastore.etcd.prefix)", err, settings.Etcd.Prefix)
	}
	return err
}

// loadDatastore makes the datastore. It gets a name of its own from the first controller: what is
// known of the store before by its name is not of this one.
func loadDatastore(
	ctx context.Context,
	stage home.Dir,
	settings home.Datastore,
	file string,
	in io.ReadSeeker,
	head Head,
	total int64,
	progress func(done, total int64),
) (err error) {
	store, err := open.Empty(
		ctx,
		stage,
		settings,
		datastore.Revision(head.Revision),
		slog.New(slog.DiscardHandler),
	)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b, done := batch{ctx: ctx, store: store}, int64(0)
	_, err = walkSnapshot(file, in, visit{part: func(content []byte) error {
		if done += int64(len(content)); progress != nil {
			progress(done, total)
		}
		return eachPartEntry(content, b.addEntry)
	}})
	if err == nil {
		err = b.flush()
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	_, err = store.Commit(
		ctx,
		datastore.Txn{
			By:  "snapshot restore",
			Ops: []datastore.Op{datastore.Delete(Namespace, IDKey), datastore.Put(Namespace, RestoredKey, text)},
		},
	)
	return err
}

// chownToHomeUser gives what root has written to the user whose home it is.
func chownToHomeUser(homeDir, stage string) error {
	info, err := os.Stat(homeDir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || st.Uid == 0 {
		return nil
	}
	return filepath.WalkDir(stage, func(at string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(at, int(st.Uid), int(st.Gid))
	})
}

// swapHome puts the parts of the home aside and the new ones in their places. While it does,
// no controller starts in the home.
func swapHome(h *home.Home, stage home.Dir) (aside string, err error) {
	if err := h.BeginRestore(); err != nil {
		return "", err
	}
	if in, err := os.ReadDir(h.Data()); err == nil &&
		len(in) == 1 &&
		in[0].Name() == "ctld.lock" { // the home was empty
		if err := os.RemoveAll(h.Data()); err != nil {
			return "", err
		}
	}
	at := h.Path("before-restore-" + time.Now().UTC().Format("20060102-150405"))
	for _, name := range replaced {
		if _, err := os.Lstat(h.Path(name)); err == nil {
			if err := os.MkdirAll(at, 0o700); err != nil {
				return "", err
			}
			aside = at
			if err := os.Rename(h.Path(name), filepath.Join(at, name)); err != nil {
				return aside, err
			}
		}
		err := os.Rename(stage.Path(name), h.Path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aside, err
		}
	}
	if aside != "" {
		if err := chownToHomeUser(string(h.Dir), aside); err != nil {
			return aside, err
		}
	}
	if err := syncDir(string(h.Dir)); err != nil {
		return aside, err
	}
	return aside, h.EndRestore()
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
