package encrypt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/yang"
)

// Schema says of a configuration document whether it holds a secret; known is false where no module is at hand that says
// what is in it.
type Schema func(key string, doc []byte) (secret, known bool)

// UseSchema says by what documents with secrets are known from then on. Before, and where the schema does not know, the
// names of members are what there is.
func (s *Service) UseSchema(schema Schema) {
	s.schema.Store(&schema)
}

// secret reports whether a document has a member that is kept sealed.
func (s *Service) secret(key string, doc []byte) bool {
	if len(doc) == 0 || Sealed(doc) {
		return false
	}
	if schema := s.schema.Load(); schema != nil {
		if secret, known := (*schema)(key, doc); known {
			return secret
		}
	}
	return yang.TextLooksSecret(doc)
}

func documentPurpose(ns, key string) []byte {
	return []byte(ns + "\x00" + key)
}

// Documents returns the store with the configuration documents that hold secrets
// sealed in it. Whoever uses it sees them open.
func (s *Service) Documents() datastore.Store {
	return &documents{s.o.Store, s}
}

type documents struct {
	datastore.Store
	s *Service
}

func (d *documents) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	copied := false
	for i, o := range t.Ops {
		if o.Namespace != d.s.o.Documents ||
			o.Delete ||
			o.DeletePrefix ||
			!d.s.secret(o.Key, o.Value) {
			continue
		}
		sealed, err := d.s.Seal(o.Value, documentPurpose(o.Namespace, o.Key))
		if errors.Is(err, ErrTooBig) {
			err = fmt.Errorf("%w: %w", datastore.ErrTooBig, err)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", o.Key, err)
		}
		if !copied {
			t.Ops, copied = append([]datastore.Op{}, t.Ops...), true
		}
		t.Ops[i].Value = sealed
	}
	return d.Store.Commit(ctx, t)
}

func (d *documents) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	return d.Store.View(ctx, func(sn datastore.Snapshot) error {
		return f(opened{sn, d})
	})
}

func (d *documents) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return d.Store.Local(func(sn datastore.Snapshot) error { return f(opened{sn, d}) })
}

func (d *documents) Watch(
	ctx context.Context,
	after datastore.Revision,
	prefixes []datastore.Prefix,
	f func(datastore.Batch) error,
) error {
	return d.Store.Watch(ctx, after, prefixes, func(b datastore.Batch) error {
		b.Events = slices.Clone(b.Events) // others watch, too
		for i, e := range b.Events {
			open, err := d.openEntry(e.Namespace, e.Entry)
			if err != nil {
				return err
			}
			b.Events[i].Entry = open
		}
		return f(b)
	})
}

func (d *documents) openEntry(ns string, e datastore.Entry) (datastore.Entry, error) {
	if ns != d.s.o.Documents || !Sealed(e.Value) {
		return e, nil
	}
	plain, err := d.s.Open(e.Value, documentPurpose(ns, e.Key))
	if err != nil {
		return datastore.Entry{}, fmt.Errorf("the document %s cannot be decrypted: %w", e.Key, err)
	}
	e.Value = plain
	return e, nil
}

type opened struct {
	datastore.Snapshot
	d *documents
}

func (o opened) Get(ns, key string) (datastore.Entry, error) {
	e, err := o.Snapshot.Get(ns, key)
	if err != nil {
		return e, err
	}
	return o.d.openEntry(ns, e)
}

func (o opened) Range(ns string, r datastore.RangeOptions) iter.Seq2[datastore.Entry, error] {
	if ns != o.d.s.o.Documents {
		return o.Snapshot.Range(ns, r)
	}
	return func(yield func(datastore.Entry, error) bool) {
		for e, err := range o.Snapshot.Range(ns, r) {
			if err == nil {
				e, err = o.d.openEntry(ns, e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
