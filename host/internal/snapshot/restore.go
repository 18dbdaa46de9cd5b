package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/encrypt"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// The bounds of one transaction of a restore; one that the engine finds too large is halved.
const (
	batchOps  = 500
	batchSize = 1 << 20
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

// Verify reads a snapshot to the end and checks it.
func Verify(file string) (Head, error) {
	f, err := os.Open(file)
	if err != nil {
		return Head{}, err
	}
	defer f.Close()
	return walk(file, f, visit{})
}

// replaced are the parts of a home that a restore puts aside and makes new.
var replaced = []string{"etc", "configuration", "features.yaml", "features.d", "data"}

// Restore makes the home of the snapshot in file. Everything is checked and written beside
// first; the parts that are replaced go to a directory of their own in the home. With etcd
// the datastore must have no data under its prefix.
func Restore(ctx context.Context, dir, file string, progress func(done, total int64)) (r Result, err error) {
	in, err := os.Open(file)
	if err != nil {
		return r, err
	}
	defer in.Close()
	if r.Head, err = walk(file, in, visit{}); err != nil {
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
	if err := fill(ctx, stage, file, in, r.Head, progress); err != nil {
		return r, err
	}
	if err := own(string(h.Dir), string(stage)); err != nil {
		return r, err
	}
	r.Aside, err = swap(h, stage)
	return r, err
}

// fill writes the files and the datastore of a snapshot into a directory.
func fill(ctx context.Context, stage home.Dir, file string, in io.ReadSeeker, head Head, progress func(done, total int64)) error {
	if _, err := walk(file, in, visit{file: func(name string, mode int64, content []byte) error {
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
	store, err := open.Store(ctx, stage, settings, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if settings.Engine == "etcd" {
		if err := empty(ctx, store, settings.Etcd.Prefix); err != nil {
			return errors.Join(err, store.Close())
		}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return errors.Join(err, store.Close())
	}
	l := &loader{ctx: ctx, store: store, total: int64(head.Entries), progress: progress}
	_, err = walk(file, in, visit{record: l.add})
	if err == nil {
		err = l.finish(head)
	}
	if err != nil && settings.Engine == "etcd" && l.done > 0 {
		err = fmt.Errorf("%w; %d keys were written to etcd under %s: delete them before the next try (etcdctl del --prefix %s)", err, l.done, settings.Etcd.Prefix, settings.Etcd.Prefix)
	}
	return errors.Join(err, store.Close())
}

// empty refuses a cluster that has data already.
func empty(ctx context.Context, store datastore.Store, prefix string) error {
	return store.View(ctx, func(sn datastore.Snapshot) error {
		for ns, err := range sn.Namespaces() {
			if err != nil {
				return err
			}
			return fault.New(fault.InUse, "etcd has data under the prefix %s already (%q), which a restore does not replace: stop all controllers that use it and "+
				"delete it (etcdctl del --prefix %s), or give the controllers another datastore.etcd.prefix; nothing was changed", prefix, ns, prefix)
		}
		return nil
	})
}

// loader puts records into a store.
type loader struct {
	ctx      context.Context
	store    datastore.Store
	ops      []datastore.Op
	size     int
	done     int64
	total    int64
	progress func(done, total int64)
}

func (l *loader) add(r record) error {
	if r.Namespace == Namespace && r.Key == IDKey { // revisions of the store before mean nothing in this one
		l.done++
		return nil
	}
	l.ops = append(l.ops, datastore.Put(r.Namespace, r.Key, r.Value))
	if l.size += len(r.Key) + len(r.Value); l.size < batchSize && len(l.ops) < batchOps {
		return nil
	}
	return l.flush()
}

func (l *loader) flush() error {
	err := l.commit(l.ops)
	l.done += int64(len(l.ops))
	l.ops, l.size = nil, 0
	if l.progress != nil {
		l.progress(l.done, l.total)
	}
	return err
}

func (l *loader) commit(ops []datastore.Op) error {
	if len(ops) == 0 {
		return l.ctx.Err()
	}
	_, err := l.store.Commit(l.ctx, datastore.Txn{Ops: ops, By: "snapshot restore"})
	if errors.Is(err, datastore.ErrTooBig) && len(ops) > 1 {
		return errors.Join(l.commit(ops[:len(ops)/2]), l.commit(ops[len(ops)/2:]))
	}
	return err
}

// finish notes in the store where it comes from.
func (l *loader) finish(head Head) error {
	text, err := encodeHead(head)
	if err != nil {
		return err
	}
	l.ops = append(l.ops, datastore.Put(Namespace, RestoredKey, text))
	return l.flush()
}

// own gives what root has written to the user whose home it is.
func own(homeDir, stage string) error {
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

// swap puts the parts of the home aside and the new ones in their places. While it does,
// no controller starts in the home.
func swap(h *home.Home, stage home.Dir) (aside string, err error) {
	if err := h.BeginRestore(); err != nil {
		return "", err
	}
	if in, err := os.ReadDir(h.Data()); err == nil && len(in) == 1 && in[0].Name() == "ctld.lock" { // the home was empty
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
		if err := os.Rename(stage.Path(name), h.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aside, err
		}
	}
	if aside != "" {
		if err := own(string(h.Dir), aside); err != nil {
			return aside, err
		}
	}
	if err := syncDir(string(h.Dir)); err != nil {
		return aside, err
	}
	return strings.TrimSuffix(aside, "/"), h.EndRestore()
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
