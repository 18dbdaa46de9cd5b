package keystore

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Sealer encrypts with the home's key; aad is bound to the sealed text.
type Sealer interface {
	Seal(plaintext, aad []byte) ([]byte, error)
	Open(sealed, aad []byte) ([]byte, error)
}

const (
	namespace = "keystore"
	pieceSize = 256 << 10
)

// sealedStorage are the keystores of a bundle in the datastore, sealed in pieces: a text has a largest size.
type sealedStorage struct {
	store  datastore.Store
	sealer Sealer
	bundle string

	revision datastore.Revision // of the first piece, which every change writes
}

func (d *sealedStorage) pieceKey(piece int) string {
	return fmt.Sprintf("%s/%04d", d.bundle, piece)
}

func entryAAD(key string) []byte {
	return []byte(namespace + "/" + key)
}

func (d *sealedStorage) loadSaved(ctx context.Context) (s saved, err error) {
	var text bytes.Buffer
	var revision datastore.Revision
	err = d.store.View(ctx, func(v datastore.Snapshot) error {
		for e, err := range v.Range(namespace, datastore.RangeOptions{Prefix: d.bundle + "/"}) {
			if err != nil {
				return err
			}
			plain, err := d.sealer.Open(e.Value, entryAAD(e.Key))
			if err != nil {
				return fmt.Errorf(
					"the keystores of bundle %s in the datastore do not open: %w; is the key of aaa-encrypt-service-config.xml that of this cluster?",
					d.bundle,
					err,
				)
			}
			text.Write(plain)
			if e.Key == d.pieceKey(0) {
				revision = e.Revision
			}
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	if revision == 0 {
		return s, ErrNone
	}
	if err := gob.NewDecoder(&text).Decode(&s); err != nil {
		return s, fmt.Errorf(
			"the keystores of bundle %s in the datastore are damaged: %w",
			d.bundle,
			err,
		)
	}
	d.revision = revision
	return s, nil
}

func (d *sealedStorage) storeSaved(ctx context.Context, s saved) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(s); err != nil {
		return err
	}
	ops := []datastore.Op{datastore.DeletePrefix(namespace, d.bundle+"/")}
	for piece := 0; text.Len() > 0; piece++ {
		key := d.pieceKey(piece)
		sealed, err := d.sealer.Seal(text.Next(pieceSize), entryAAD(key))
		if err != nil {
			return err
		}
		ops = append(ops, datastore.Put(namespace, key, sealed))
	}
	revision, err := d.store.Commit(ctx, datastore.Txn{Ops: ops,
		Compares: []datastore.Compare{{
			Namespace: namespace,
			Key:       d.pieceKey(0),
			Revision:  d.revision,
		}}})
	if errors.Is(err, datastore.ErrConflict) {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"another node changed the keystores at the same time; try again",
		)
	}
	if err == nil {
		d.revision = revision
	}
	return err
}

// isCurrent reports that what is known is not older than a revision.
func (d *sealedStorage) isCurrent(r datastore.Revision) bool {
	return d.revision >= r
}

func (d *sealedStorage) followChanges(ctx context.Context, changed func(datastore.Revision)) error {
	return datastore.Changed(ctx, d.store, []datastore.Prefix{{
		Namespace: namespace,
		Key:       d.pieceKey(0),
	}}, func(_ context.Context, b *datastore.Batch) error {
		if b == nil {
			changed(d.store.Revision())
		} else {
			changed(b.Revision)
		}
		return nil
	})
}
