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
// cannot be asked, the last ones are good for kept, and nobody waits for it long: anybody can send tokens that name keys which
// are not there.
type keyCache struct {
	fetch                     func(context.Context) ([]jose.JSONWebKey, error)
	now                       func() time.Time
	ttl, timeout, pause, kept time.Duration
	slowAfter                 time.Duration // how long those who hold keys wait for the provider

	life       context.Context // of what is under way
	end        context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // zero = never
	tried   time.Time // begin of the last try
	err     error     // of it
	closed  bool

	underWay *question // nil = none is
}

// question is one to the provider.
type question struct {
	done chan struct{} // closed at its end
	slow chan struct{} // closed slowAfter from its begin
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
	c.refresh(ctx, age < max(c.kept, c.ttl))
	found, age = c.look(kid)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case age >= max(c.kept, c.ttl):
		return nil, cmp.Or(c.err, errNoKeys)
	case len(found) > 0:
		return found, nil
	}
	return nil, errNoSuchKey // also when the provider does not answer: such a token must not make the realm count as unavailable
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
// the caller has, or for slowAfter from the begin of the question where keys are held: these are used then. The question goes
// on, for those who come after.
func (c *keyCache) refresh(ctx context.Context, held bool) {
	q := c.startFetch()
	if q == nil {
		return
	}
	if deadline, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	var slow chan struct{} // never
	if held {
		slow = q.slow
	}
	select {
	case <-q.done:
	case <-slow:
	case <-ctx.Done():
	}
}

// startFetch asks the provider if nobody does and it was not asked a moment ago. It returns the question that is under way; nil
// when there is nothing to wait for.
func (c *keyCache) startFetch() *question {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay != nil {
		return c.underWay
	}
	if c.closed || !c.tried.IsZero() && c.now().Sub(c.tried) < c.pause {
		return nil
	}
	q := &question{
		done: make(chan struct{}),
		slow: make(chan struct{}),
	}
	c.tried, c.underWay = c.now(), q
	timer := time.AfterFunc(c.slowAfter, func() { close(q.slow) })
	c.background.Go(func() {
		defer timer.Stop()
		defer close(q.done)
		c.fetchNow()
	})
	return q
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
