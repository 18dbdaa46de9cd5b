package token

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	shards   = 32
	perShard = 4096 // 131,072 tokens in all
)

type key = [sha256.Size]byte

type kept struct {
	r     *record
	until time.Time
}

// cache keeps token records by digest.
type cache struct {
	shards [shards]struct {
		mu sync.RWMutex
		m  map[key]kept
	}
}

func (c *cache) get(k key, now time.Time) (*record, bool) {
	s := &c.shards[k[0]%shards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.m[k]
	return e.r, ok && now.Before(e.until)
}

// put keeps a record if, under the lock, it is still good.
func (c *cache) put(k key, r *record, until time.Time, good func() bool) {
	s := &c.shards[k[0]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if !good() {
		return
	}
	if s.m == nil || len(s.m) >= perShard {
		s.m = map[key]kept{}
	}
	s.m[k] = kept{r, until}
}

func (c *cache) clear() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.m = nil
		s.mu.Unlock()
	}
}
