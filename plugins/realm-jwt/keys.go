package realmjwt

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

var errNoKeys = errors.New("the provider did not return its keys in time")

// errNoSuchKey says that the provider has no key by which a token could be verified.
var errNoSuchKey = errors.New("no key of the provider has the kid of the token")

// keyCache holds the keys of a provider. They are asked for again before they are too old, when a token
// names one that is not there, at most once at a time and not more often than pause; while the provider
// cannot be asked, the last ones are good for kept.
type keyCache struct {
	fetch                     func(context.Context) ([]jose.JSONWebKey, error)
	now                       func() time.Time
	ttl, timeout, pause, kept time.Duration

	life       context.Context // of what is under way
	end        context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // zero = never
	tried   time.Time // begin of the last try
	err     error     // of it
	closed  bool

	underWay chan struct{} // closed at the end of the question that is under way; nil = none is
}

// find returns the keys of a kid; all keys for "". The error is errNoSuchKey, or why the provider could
// not be asked.
func (c *keyCache) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	found, age := c.look(kid)
	if len(found) > 0 && age < c.ttl {
		if age >= c.ttl/5*4 {
			c.startFetch() // nobody waits for it
		}
		return found, nil
	}
	c.refresh(ctx)
	found, age = c.look(kid)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case age >= max(c.kept, c.ttl):
		return nil, cmp.Or(c.err, errNoKeys)
	case len(found) > 0:
		return found, nil
	case c.err != nil:
		return nil, c.err // whether the provider has such a key by now is not known
	}
	return nil, errNoSuchKey
}

// look returns the keys of a kid that are held, and their age.
func (c *keyCache) look(kid string) (found []jose.JSONWebKey, age time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetched.IsZero() {
		return nil, 1<<63 - 1
	}
	for _, k := range c.keys {
		if kid == "" || k.KeyID == kid {
			found = append(found, k)
		}
	}
	return found, c.now().Sub(c.fetched)
}

// refresh asks the provider, unless it was asked a moment ago, and waits for the answer half of the time that
// the caller has: the keys at hand are used then. The question goes on, for those who come after.
func (c *keyCache) refresh(ctx context.Context) {
	if deadline, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	select {
	case <-c.startFetch():
	case <-ctx.Done():
	}
}

// startFetch asks the provider if nobody does and it was not asked a moment ago. What it returns is closed
// when there is nothing more to wait for.
func (c *keyCache) startFetch() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay != nil {
		return c.underWay
	}
	done := make(chan struct{})
	if c.closed || !c.tried.IsZero() && c.now().Sub(c.tried) < c.pause {
		close(done)
		return done
	}
	c.tried, c.underWay = c.now(), done
	c.background.Go(func() {
		defer close(done)
		c.fetchNow()
	})
	return done
}

func (c *keyCache) fetchNow() {
	ctx, cancel := context.WithTimeout(c.life, c.timeout)
	defer cancel()
	keys, err := c.fetch(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underWay = nil
	if c.err = err; err == nil {
		c.keys, c.fetched = keys, c.now()
	}
}

// close ends what is under way and waits for it.
func (c *keyCache) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.background.Wait()
}
