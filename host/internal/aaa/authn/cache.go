package authn

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"sync"
	"time"
)

// digest identifies credentials without holding them: an HMAC under a key that
// dies with the process.
type digest [sha256.Size]byte

// verified is what was found out about credentials.
type verified struct {
	login *Login
	// id and epoch bind a local login to the state it was verified in.
	id, epoch string
	// generation binds an outside login to the state of the identities.
	generation uint64
	until      time.Time
}

type cache struct {
	macs   sync.Pool
	shards [32]struct {
		mu sync.RWMutex
		m  map[digest]*verified
	}
	perShard int
}

func newCache(size int) *cache {
	key := make([]byte, sha256.BlockSize)
	_, _ = rand.Read(key) // never fails since Go 1.24
	c := &cache{perShard: max(1, size/32)}
	c.macs.New = func() any { return hmac.New(sha256.New, key) }
	return c
}

func (c *cache) digest(kind byte, text string) (d digest) {
	m := c.macs.Get().(hash.Hash)
	m.Reset()
	buf := [512]byte{kind}
	_, _ = m.Write(buf[:1+copy(buf[1:], text)])
	if rest := len(buf) - 1; len(text) > rest {
		_, _ = m.Write([]byte(text[rest:]))
	}
	m.Sum(d[:0])
	c.macs.Put(m)
	return d
}

func (c *cache) get(d digest) *verified {
	s := &c.shards[d[0]%32]
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.m[d]
}

func (c *cache) put(d digest, v *verified) {
	s := &c.shards[d[0]%32]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[digest]*verified{}
	}
	if len(s.m) >= c.perShard {
		for k := range s.m { // any one
			delete(s.m, k)
			break
		}
	}
	s.m[d] = v
}

func (c *cache) drop(d digest) {
	s := &c.shards[d[0]%32]
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, d)
}
