package service

import (
	"fmt"
	"slices"

	"ctl.internal/sdk/state"
)

// The bounds: items of a record, those that are added at a time, and records that are
// removed at a time, so that all is one transaction (etcd takes 128 operations).
const (
	perRecord = 100
	maxAdded  = 2000
	maxGone   = 80
)

// ring keeps the last items of a list in the datastore, a record for each batch of them. One process at a time may add;
// all may read.
type ring[T any] struct {
	table *state.Table[[]T]
	keep  int
}

// newRing makes a ring of the last keep items, below a prefix of the plugin's keys.
func newRing[T any](prefix string, keep int) *ring[T] {
	return &ring[T]{state.NewTable[[]T](state.Private(prefix)), keep}
}

// View is what the store follows for the ring.
func (r *ring[T]) View() state.View { return r.table }

// Add adds items, the oldest first, and removes records that are not needed any more. Of
// very many items only the last are kept.
func (r *ring[T]) Add(tx *state.Tx, items []T) error {
	items = items[max(0, len(items)-min(r.keep, maxAdded)):]
	var next uint64
	left := r.keep - len(items)
	var keys []string
	var sizes []int
	for key, batch := range r.table.All(tx, "") {
		keys, sizes = append(keys, key), append(sizes, len(batch))
		if _, err := fmt.Sscanf(key, "%x", &next); err != nil {
			return err
		}
	}
	needed := len(keys)
	for ; needed > 0 && left > 0; needed-- {
		left -= sizes[needed-1]
	}
	for _, key := range keys[:min(needed, maxGone)] {
		r.table.Delete(tx, key)
	}
	for batch := range slices.Chunk(items, perRecord) {
		next++
		if err := r.table.Put(tx, fmt.Sprintf("%016x", next), batch); err != nil {
			return err
		}
	}
	return nil
}

// Last returns the items, the newest first.
func (r *ring[T]) Last(at state.Reader) (out []T) {
	for _, batch := range r.table.All(at, "") {
		out = append(out, batch...)
	}
	slices.Reverse(out)
	return out[:min(len(out), r.keep)]
}
