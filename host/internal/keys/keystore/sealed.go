package keystore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	chunkSize = 256 << 10 // an etcd cluster takes 1.5 MiB at once by default
)

// sealedStorage are the keystores of a bundle in the datastore: a head that says
// what there is, and the two keystores in chunks.
type sealedStorage struct {
	store  datastore.Store
	sealer Sealer
	bundle string

	revision datastore.Revision // of the head
}

type head struct {
	CtlPassword   string   `json:"ctlPassword"`
	TrustPassword string   `json:"trustPassword"`
	Alias         string   `json:"alias"`
	Protocols     []string `json:"protocols,omitempty"`
	Suites        []string `json:"suites,omitempty"`
	Ctl           int      `json:"ctl"` // chunks
	Trust         int      `json:"trust"`
}

func (d *sealedStorage) key(part string) string { return d.bundle + "/" + part }

func (d *sealedStorage) chunkKey(which string, i int) string {
	return d.key(fmt.Sprintf("%s/%04d", which, i))
}

func (d *sealedStorage) aad(key string) []byte { return []byte(namespace + "/" + key) }

func (d *sealedStorage) load(ctx context.Context) (s saved, err error) {
	err = d.store.View(ctx, func(v datastore.Snapshot) error {
		open := func(key string) ([]byte, datastore.Revision, error) {
			e, err := v.Get(namespace, key)
			if err != nil {
				return nil, 0, err
			}
			plain, err := d.sealer.Open(e.Value, d.aad(key))
			if err != nil {
				return nil, 0, fmt.Errorf("the keystores of bundle %s in the datastore cannot be decrypted: %w; is the key in aaa-encrypt-service-config.xml that of this cluster?", d.bundle, err)
			}
			return plain, e.Revision, nil
		}
		b, revision, err := open(d.key("head"))
		if errors.Is(err, datastore.ErrNotFound) {
			return errNone
		}
		if err != nil {
			return err
		}
		var h head
		if err := json.Unmarshal(b, &h); err != nil {
			return fmt.Errorf("the keystores of bundle %s in the datastore are damaged: %w", d.bundle, err)
		}
		s = saved{ctlPassword: h.CtlPassword, trustPassword: h.TrustPassword, alias: h.Alias, protocols: h.Protocols, suites: h.Suites}
		for _, p := range []struct {
			which string
			n     int
			to    *[]byte
		}{{"ctl", h.Ctl, &s.ctl}, {"trust", h.Trust, &s.trust}} {
			for i := range p.n {
				b, _, err := open(d.chunkKey(p.which, i))
				if err != nil {
					return err
				}
				*p.to = append(*p.to, b...)
			}
		}
		d.revision = revision
		return nil
	})
	return s, err
}

func (d *sealedStorage) save(ctx context.Context, s saved) error {
	h := head{CtlPassword: s.ctlPassword, TrustPassword: s.trustPassword, Alias: s.alias, Protocols: s.protocols, Suites: s.suites}
	var ops []datastore.Op
	put := func(key string, plain []byte) error {
		b, err := d.sealer.Seal(plain, d.aad(key))
		ops = append(ops, datastore.Put(namespace, key, b))
		return err
	}
	for _, p := range []struct {
		which string
		b     []byte
		n     *int
	}{{"ctl", s.ctl, &h.Ctl}, {"trust", s.trust, &h.Trust}} {
		ops = append(ops, datastore.DeletePrefix(namespace, d.key(p.which+"/")))
		for chunk := range slices.Chunk(p.b, chunkSize) {
			if err := put(d.chunkKey(p.which, *p.n), chunk); err != nil {
				return err
			}
			*p.n++
		}
	}
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := put(d.key("head"), b); err != nil {
		return err
	}
	revision, err := d.store.Commit(ctx, datastore.Txn{Ops: ops,
		Compares: []datastore.Compare{{Namespace: namespace, Key: d.key("head"), Revision: d.revision}}})
	if errors.Is(err, datastore.ErrConflict) {
		return fault.Wrap(fault.Unavailable, err, "another node changed the keystores at the same time; try again")
	}
	if err == nil {
		d.revision = revision
	}
	return err
}

// current reports that what is known is not older than a revision.
func (d *sealedStorage) current(r datastore.Revision) bool { return d.revision >= r }

func (d *sealedStorage) follow(ctx context.Context, changed func(datastore.Revision)) error {
	return datastore.Changed(ctx, d.store, []datastore.Prefix{{Namespace: namespace, Key: d.key("head")}}, func(_ context.Context, b *datastore.Batch) error {
		if b == nil {
			changed(d.store.Revision())
		} else {
			changed(b.Revision)
		}
		return nil
	})
}
