package snapshot

import (
	"context"
	"encoding/binary"
	"errors"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/lease"
)

// The entries of the archive below store/ are entries of the datastore, one after the
// other: namespace, key and value, each with its length.

// partSize is where a part ends; one that ends with a large value is larger.
const partSize = 1 << 20

// observed is the namespace of the operational tree.
const observed = "operational-tree"

// eachLastingEntry calls f for every entry that a snapshot has: not for roles and nodes, which are
// those of processes that run, and not for what was observed of devices.
func eachLastingEntry(
	ctx context.Context,
	sn datastore.Snapshot,
	f func(ns string, e datastore.Entry) error,
) error {
	for ns, err := range sn.Namespaces() {
		if err != nil {
			return err
		}
		if ns == lease.Namespace || ns == observed {
			continue
		}
		for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = f(ns, e)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func appendEntry(part []byte, ns string, e datastore.Entry) []byte {
	for _, b := range [][]byte{[]byte(ns), []byte(e.Key), e.Value} {
		part = append(binary.AppendUvarint(part, uint64(len(b))), b...)
	}
	return part
}

var errPart = errors.New("it contains an entry of the datastore that cannot be decoded")

// eachPartEntry calls f for the entries of a part. The value is valid until f returns.
func eachPartEntry(part []byte, f func(ns, key string, value []byte) error) error {
	for len(part) > 0 {
		var texts [3][]byte
		for i := range texts {
			n, size := binary.Uvarint(part)
			if size <= 0 || n > uint64(len(part)-size) {
				return errPart
			}
			texts[i], part = part[size:size+int(n)], part[size+int(n):]
		}
		if err := f(string(texts[0]), string(texts[1]), texts[2]); err != nil {
			return err
		}
	}
	return nil
}

// The entries and bytes of one transaction of a restore; one entry may be larger.
const (
	batchEntries = 100 // what every etcd cluster takes
	batchBytes   = 512 << 10
)

// batch writes entries into a store.
type batch struct {
	ctx   context.Context
	store datastore.Store
	ops   []datastore.Op
	bytes int
}

func (b *batch) addEntry(ns, key string, value []byte) error {
	if len(b.ops) == batchEntries || b.bytes+len(value) > batchBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	b.ops = append(b.ops, datastore.Put(ns, key, value))
	b.bytes += len(key) + len(value)
	return nil
}

func (b *batch) flush() error {
	if len(b.ops) == 0 {
		return nil
	}
	_, err := b.store.Commit(b.ctx, datastore.Txn{
		Ops: b.ops,
		By:  "snapshot restore",
	})
	b.ops, b.bytes = nil, 0
	return err
}
