package memory

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// Revision of the snapshot.
func (st *state) Revision() datastore.Revision { return st.rev }

// Get reads one key.
func (st *state) Get(ns, key string) (datastore.Entry, error) {
	if err := engine.CheckKey(ns, key, false); err != nil {
		return datastore.Entry{}, err
	}
	n := st.root.get(engine.Join(ns, key))
	if n == nil {
		return datastore.Entry{}, fmt.Errorf("%w: %q in namespace %q", datastore.ErrNotFound, key, ns)
	}
	return n.entry(key), nil
}

func (n *node) entry(key string) datastore.Entry {
	return datastore.Entry{Key: key, Value: bytes.Clone(n.value), Revision: n.rev}
}

// Range yields the entries of a namespace in order.
func (st *state) Range(ns string, o datastore.RangeOptions) iter.Seq2[datastore.Entry, error] {
	return func(yield func(datastore.Entry, error) bool) {
		if err := engine.CheckKey(ns, o.Prefix, true); err != nil {
			yield(datastore.Entry{}, err)
			return
		}
		prefix := engine.Join(ns, o.Prefix)
		start := prefix
		if after := engine.Join(ns, o.After) + "\x00"; o.After != "" && after > start {
			start = after // the smallest key above o.After
		}
		left := o.Limit
		for n := range st.root.from(start) {
			if !strings.HasPrefix(n.key, prefix) {
				return
			}
			_, key := engine.Split(n.key)
			if !yield(n.entry(key), nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// Namespaces yields the namespaces in order.
func (st *state) Namespaces() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for next := ""; ; {
			ns, found := "", false
			for n := range st.root.from(next) {
				ns, _ = engine.Split(n.key)
				found = true
				break
			}
			if !found || !yield(ns, nil) {
				return
			}
			next = engine.Beyond(ns)
		}
	}
}

// view is a state as engine.Resolve reads it.
type view struct{ st *state }

func (v view) Revision(ns, key string) (datastore.Revision, error) {
	if n := v.st.root.get(engine.Join(ns, key)); n != nil {
		return n.rev, nil
	}
	return 0, nil
}

func (v view) Keys(ns, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for e, err := range v.st.Range(ns, datastore.RangeOptions{Prefix: prefix}) {
			if !yield(e.Key, err) {
				return
			}
		}
	}
}
