// Package cache is a bounded map for what every request looks up.
package cache

import (
	"hash/maphash"
	"sync"
)

const shards = 32

// Map holds up to a number of entries; when it is full any one gives way. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	seed     maphash.Seed
	perShard int
	shards   [shards]struct {
		mu sync.RWMutex
		m  map[K]V
	}
}

// New returns a map of about size entries.
func New[K comparable, V any](size int) *Map[K, V] {
	return &Map[K, V]{
		seed:     maphash.MakeSeed(),
		perShard: max(1, size/shards),
	}
}

// Get returns the entry of a key.
func (m *Map[K, V]) Get(k K) (V, bool) {
	s := &m.shards[maphash.Comparable(m.seed, k)%shards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.m[k]
	return v, ok
}

// Put keeps an entry if it is good, which is asked under the lock; nil = it is.
func (m *Map[K, V]) Put(k K, v V, good func() bool) {
	s := &m.shards[maphash.Comparable(m.seed, k)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if good != nil && !good() {
		return
	}
	if s.m == nil {
		s.m = map[K]V{}
	}
	if len(s.m) >= m.perShard {
		for other := range s.m {
			delete(s.m, other)
			break
		}
	}
	s.m[k] = v
}

// Drop removes the entry of a key.
func (m *Map[K, V]) Drop(k K) {
	s := &m.shards[maphash.Comparable(m.seed, k)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, k)
}

// Clear removes all.
func (m *Map[K, V]) Clear() {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		s.m = nil
		s.mu.Unlock()
	}
}
