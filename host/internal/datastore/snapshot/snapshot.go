// Package snapshot writes everything that a datastore holds into one file, while it is in
// use, and reads it back into an empty one of any engine.
package snapshot

import (
	"context"
	"fmt"
	"io"
	"time"

	"ctl.internal/host/internal/datastore"
)

// LeaseNamespace is left out: roles and nodes are those of processes that run.
const LeaseNamespace = "lease"

// Save writes a snapshot of s to w: every transaction acknowledged before the call, and no
// part of another one. Secrets stay sealed as they are in the store.
func Save(ctx context.Context, s datastore.Store, w io.Writer) (info Info, err error) {
	err = s.View(ctx, func(sn datastore.Snapshot) error {
		out := newWriter(w, Info{Format: formatName, Version: version, Revision: sn.Revision(), At: time.Now().UTC()})
		for ns, err := range sn.Namespaces() {
			if err != nil {
				return err
			}
			if ns == LeaseNamespace {
				continue
			}
			for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
				if err == nil {
					err = ctx.Err()
				}
				if err == nil {
					err = out.add(entry{ns, e.Key, e.Value})
				}
				if err != nil {
					return err
				}
			}
		}
		err := out.end()
		info = out.info
		return err
	})
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", err)
	}
	return info, nil
}

// Check reads a whole snapshot and fails with ErrDamaged when it is not what was written.
func Check(r io.Reader) (Info, error) {
	info, err := read(r, func(entry) error { return nil })
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", err)
	}
	return info, nil
}

// atRevision are engines whose revisions can be made to go on after those of a snapshot, so
// that a revision that was written down before (an epoch, "applied up to") is never larger
// than a new one. Those of etcd are the cluster's own.
type atRevision interface {
	CommitAt(ctx context.Context, t datastore.Txn, at datastore.Revision) (datastore.Revision, error)
}

// The entries and bytes of one transaction of Restore; one entry may be larger.
const (
	maxEntries = 100 // what every etcd cluster takes
	maxBytes   = 512 << 10
)

// Restore reads a snapshot into s, which must be empty. The whole of it is checked before
// anything is written. When it fails later s is to be thrown away.
func Restore(ctx context.Context, s datastore.Store, r io.ReadSeeker) (Info, error) {
	info, err := restore(ctx, s, r)
	if err != nil {
		return info, fmt.Errorf("restore the snapshot: %w", err)
	}
	return info, nil
}

func restore(ctx context.Context, s datastore.Store, r io.ReadSeeker) (info Info, err error) {
	err = s.View(ctx, func(sn datastore.Snapshot) error {
		for ns, err := range sn.Namespaces() {
			if err != nil {
				return err
			}
			if ns != LeaseNamespace {
				return fmt.Errorf("the datastore is not empty: it has the namespace %q; restore into an empty one", ns)
			}
		}
		return nil
	})
	if err != nil {
		return info, err
	}
	begin, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return info, err
	}
	if info, err = read(r, func(entry) error { return nil }); err != nil {
		return info, err
	}
	if _, err := r.Seek(begin, io.SeekStart); err != nil {
		return info, err
	}
	b := batch{ctx: ctx, s: s, at: info.Revision + 1}
	if _, err := read(r, b.add); err != nil {
		return info, err
	}
	return info, b.flush()
}

type batch struct {
	ctx   context.Context
	s     datastore.Store
	at    datastore.Revision
	ops   []datastore.Op
	bytes int
}

func (b *batch) add(e entry) error {
	if len(b.ops) == maxEntries || b.bytes+len(e.value) > maxBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	b.ops = append(b.ops, datastore.Put(e.namespace, e.key, e.value))
	b.bytes += len(e.key) + len(e.value)
	return nil
}

func (b *batch) flush() (err error) {
	if len(b.ops) == 0 {
		return nil
	}
	t := datastore.Txn{Ops: b.ops, By: "snapshot restore"}
	if s, ok := b.s.(atRevision); ok {
		_, err = s.CommitAt(b.ctx, t, b.at)
	} else {
		_, err = b.s.Commit(b.ctx, t)
	}
	b.ops, b.bytes = nil, 0
	return err
}
