// Package throttle slows down whoever guesses passwords: failures are counted
// per user and per source address, answered later and later, and finally refused
// for a while. Attempts under way count as what they may become, so they wait for each
// other where too many are; waiting for a delay, and answering, is package authn's.
package throttle

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Settings say when failures cost time. Zero members take the default.
type Settings struct {
	UserFree                  int           // failures of one user without delay: 3
	UserBlock                 int           // failures before refusal: when the delay would pass MaxDelay
	AddressFree, AddressBlock int           // the same of one address: ten times as many
	FirstDelay, MaxDelay      time.Duration // delay doubles from 250 ms to 4 s
	Block, MaxBlock           time.Duration // refusal doubles from 30 s to 15 min
	Forget                    time.Duration // without failures for so long, all is forgotten: 15 min
}

func (s Settings) withDefaults() Settings {
	s.FirstDelay, s.MaxDelay = cmp.Or(s.FirstDelay, 250*time.Millisecond), cmp.Or(s.MaxDelay, 4*time.Second)
	s.UserFree = cmp.Or(s.UserFree, 3)
	delays := 0
	for d := s.FirstDelay; d <= s.MaxDelay && delays < 30; d *= 2 {
		delays++
	}
	s.UserBlock = cmp.Or(s.UserBlock, s.UserFree+max(1, delays))
	s.AddressFree, s.AddressBlock = cmp.Or(s.AddressFree, 10*s.UserFree), cmp.Or(s.AddressBlock, 10*s.UserBlock)
	s.Block, s.MaxBlock, s.Forget = cmp.Or(s.Block, 30*time.Second), cmp.Or(s.MaxBlock, 15*time.Minute), cmp.Or(s.Forget, 15*time.Minute)
	return s
}

// maxKeys bounds the memory that guessing with ever new names can take, maxQueued the
// attempts that wait for their turn.
const (
	maxKeys   = 20_000
	maxQueued = 4096
)

// maxAhead bounds how long the delays of others may keep an attempt waiting.
const maxAhead = 30 * time.Second

// BlockedError refuses an attempt unseen.
type BlockedError struct{ Wait time.Duration }

// RetryAfter is when another attempt may be made, in whole seconds as HTTP has it.
func (e *BlockedError) RetryAfter() time.Duration {
	return max(1, (e.Wait+time.Second-1)/time.Second) * time.Second
}

// Error says when to try again.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("too many failed logins; try again in %s", e.RetryAfter())
}

// Limiter counts failures. It is safe for concurrent use.
type Limiter struct {
	s   Settings
	now func() time.Time

	failing atomic.Int64 // how many counters there are, about

	mu     sync.Mutex
	queued int
	counts map[key]*counter
	// trusted holds users at addresses they have logged in from: guessing from
	// elsewhere does not lock them out.
	trusted   map[key]time.Time
	remember  func(Trust)
	onLockout func(Lockout)
}

// Trust says that a user has logged in from a place (see Site).
type Trust struct {
	User string
	From netip.Addr
	At   time.Time
}

// TrustFor is how long a user is trusted at an address after the last login there, and trustAgain after
// how long a login there is remembered again.
const (
	TrustFor   = 30 * 24 * time.Hour
	trustAgain = 24 * time.Hour
)

// Keep has what is trusted remembered beyond the process: known is what an earlier one remembered;
// remember is called, at most once a day for each user and address, after a login.
func (l *Limiter) Keep(known []Trust, remember func(Trust)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remember = remember
	for _, t := range known[:min(len(known), maxKeys)] {
		l.trusted[pairKey(t.User, t.From)] = t.At
	}
}

// New returns a limiter; now is the clock, nil for the real one.
func New(s Settings, now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now
	}
	return &Limiter{
		s:       s.withDefaults(),
		now:     now,
		counts:  map[key]*counter{},
		trusted: map[key]time.Time{},
	}
}

// Turn is the permission to verify one password, once Delay has passed. One of its
// methods must be called at the end; the first one counts.
type Turn struct {
	Delay time.Duration

	ended         bool
	l             *Limiter
	user, address *counter
	userKey       key
	pair          key
}

// Begin is called before a password is verified, and waits for the attempt's turn. At most
// UserFree attempts per user and AddressFree per address run concurrently, less their
// failures: guessing many at once is not faster than one after the other, and right
// passwords, however many come at once, only wait for each other.
// The error is a *BlockedError or that of ctx.
func (l *Limiter) Begin(ctx context.Context, user string, from netip.Addr) (*Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &Turn{
		l:       l,
		pair:    pairKey(user, from),
		userKey: l.userKey(user, from, l.now()),
	}
	var err error
	if t.user, err = l.enterCounter(ctx, t.userKey, l.s.UserFree); err != nil {
		return nil, err
	}
	if t.address, err = l.enterCounter(ctx, addressKey(from), l.s.AddressFree); err != nil {
		l.leaveCounter(t.userKey, t.user)
		return nil, err
	}
	t.Delay = max(l.nextDelay(t.user), l.nextDelay(t.address))
	return t, nil
}

// Succeeded ends a turn in which the password was right.
func (t *Turn) Succeeded() {
	l := t.l
	now := l.now()
	l.mu.Lock()
	if t.ended {
		l.mu.Unlock()
		return
	}
	t.user.failures, t.user.until = 0, time.Time{}
	t.leaveCounters()
	last, known := l.trusted[t.pair]
	again := !known || now.Sub(last) >= trustAgain
	if !known && len(l.trusted) >= maxKeys {
		l.forgetTrust(now)
	}
	if again {
		l.trusted[t.pair] = now
	}
	remember := l.remember
	l.mu.Unlock()
	if again && remember != nil && t.pair.from.IsValid() {
		remember(Trust{
			User: t.pair.user,
			From: t.pair.from,
			At:   now,
		})
	}
}

// forgetTrust makes room: what is over, else any half.
func (l *Limiter) forgetTrust(now time.Time) {
	for k, at := range l.trusted {
		if now.Sub(at) >= TrustFor {
			delete(l.trusted, k)
		}
	}
	for k := range l.trusted {
		if len(l.trusted) < maxKeys/2 {
			return
		}
		delete(l.trusted, k)
	}
}

// Failed ends a turn in which the password was wrong.
func (t *Turn) Failed() {
	l := t.l
	for _, o := range t.countFailure() {
		if l.onLockout != nil {
			l.onLockout(o)
		}
	}
}

// countFailure counts the failure, and returns what is first delayed or blocked by it.
func (t *Turn) countFailure() (first []Lockout) {
	l := t.l
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.ended {
		return nil
	}
	for _, one := range []struct {
		k     key
		c     *counter
		block int
	}{{t.userKey, t.user, l.s.UserBlock}, {addressKey(t.pair.from), t.address, l.s.AddressBlock}} {
		l.countFailure(one.c, now, one.block)
		if one.c.failures == one.c.free || one.c.failures == one.block {
			if o, ok := l.lockoutOf(one.k, one.c, now); ok {
				first = append(first, o)
			}
		}
	}
	t.leaveCounters()
	return first
}

// Cancelled ends a turn in which the password could not be verified at all.
func (t *Turn) Cancelled() {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if !t.ended {
		t.leaveCounters()
	}
}

func (t *Turn) leaveCounters() {
	t.ended = true
	t.l.leaveCounter(t.userKey, t.user)
	t.l.leaveCounter(addressKey(t.pair.from), t.address)
}

// Failing reports whether any counter is held.
func (l *Limiter) Failing() bool { return l.failing.Load() > 0 }

// Seen is called when a user sends credentials that were verified before: what
// went wrong at this address is forgiven, guesses from elsewhere still count.
func (l *Limiter) Seen(user string, from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := pairKey(user, from)
	if c := l.counts[k]; c != nil {
		c.failures, c.until = 0, time.Time{}
		c.admitWaiters(l.now())
		l.dropIdle(k, c)
	}
}

// enterCounter waits until an attempt may be under way at a counter.
func (l *Limiter) enterCounter(ctx context.Context, k key, free int) (*counter, error) {
	c := l.ensureCounter(k, l.now(), free)
	if err := c.blockedError(l.now()); err != nil {
		return nil, err
	}
	if len(c.queue) == 0 && c.hasRoom() {
		c.active++
		return c, nil
	}
	if l.queueDelay(c) > maxAhead {
		return nil, &BlockedError{maxAhead}
	}
	if l.queued >= maxQueued {
		return nil, &BlockedError{l.s.FirstDelay}
	}
	w := &waiter{woken: make(chan struct{})}
	c.queue = append(c.queue, w)
	l.queued++
	l.mu.Unlock()
	select {
	case <-w.woken:
	case <-ctx.Done():
	}
	l.mu.Lock()
	l.queued--
	if c.removeWaiter(w) {
		l.dropIdle(k, c)
		return nil, ctx.Err()
	}
	if w.refused {
		return nil, &BlockedError{maxAhead}
	}
	if err := c.blockedError(l.now()); err != nil { // by those before this one
		l.leaveCounter(k, c)
		return nil, err
	}
	return c, nil
}

// queueDelay is how long the delays of those who wait at a counter take together.
func (l *Limiter) queueDelay(c *counter) time.Duration {
	return l.nextDelay(c) * time.Duration(len(c.queue))
}

// dismissWaiters refuses those for whom a counter's delays, after one more failure, have
// become too long a wait.
func (l *Limiter) dismissWaiters(c *counter) {
	for l.queueDelay(c) > maxAhead {
		last := len(c.queue) - 1
		c.queue[last].refused = true
		close(c.queue[last].woken)
		c.queue = c.queue[:last]
	}
}

// leaveCounter makes room for those who wait at a counter.
func (l *Limiter) leaveCounter(k key, c *counter) {
	c.active--
	c.admitWaiters(l.now())
	l.dropIdle(k, c)
}

// dropIdle forgets a counter that says nothing.
func (l *Limiter) dropIdle(k key, c *counter) {
	if c.failures == 0 && c.isIdle() && l.counts[k] == c {
		delete(l.counts, k)
		l.failing.Store(int64(len(l.counts)))
	}
}

// userKey is what a user's failures from an address are counted by.
func (l *Limiter) userKey(user string, from netip.Addr, now time.Time) key {
	pair := pairKey(user, from)
	t, ok := l.trusted[pair]
	if ok && now.Sub(t) < TrustFor {
		return pair
	}
	return key{user: user}
}

func (l *Limiter) countFailure(c *counter, now time.Time, block int) {
	c.failures++
	c.last = now
	if c.failures >= block {
		c.until = now.Add(doubleDuration(l.s.Block, l.s.MaxBlock, c.failures-block))
	}
	l.dismissWaiters(c)
}

// nextDelay is what the next attempt must wait for.
func (l *Limiter) nextDelay(c *counter) time.Duration {
	if c.failures < c.free {
		return 0
	}
	return doubleDuration(l.s.FirstDelay, l.s.MaxDelay, c.failures-c.free)
}

// doubleDuration returns first doubled n times, at most limit.
func doubleDuration(first, limit time.Duration, n int) time.Duration {
	if n > 30 || first<<n > limit || first<<n <= 0 {
		return limit
	}
	return first << n
}

func (l *Limiter) ensureCounter(k key, now time.Time, free int) *counter {
	c := l.counts[k]
	if c != nil {
		if c.failures > 0 && now.Sub(c.last) >= l.s.Forget+max(0, c.until.Sub(c.last)) {
			c.failures, c.until = 0, time.Time{}
			c.admitWaiters(now)
		}
		return c
	}
	if len(l.counts) >= maxKeys {
		l.sweepCounters(now)
	}
	c = &counter{free: free}
	l.counts[k] = c
	l.failing.Store(int64(len(l.counts)))
	return c
}

// sweepCounters forgets what is old, and when all is new, half of what is neither blocked nor
// in use.
func (l *Limiter) sweepCounters(now time.Time) {
	for k, c := range l.counts {
		if c.isIdle() && now.Sub(c.last) >= l.s.Forget {
			delete(l.counts, k)
		}
	}
	for k, c := range l.counts {
		if len(l.counts) < maxKeys/2 {
			return
		}
		if c.isIdle() && !c.until.After(now) {
			delete(l.counts, k)
		}
	}
	if len(l.counts) >= maxKeys {
		clear(l.counts) // turns under way keep theirs
	}
}

// key is what failures are counted by: a user from anywhere, an address, or a user at
// an address.
type key struct {
	user string
	from netip.Addr
	pair bool // an address may be none, as that of the console
}

func pairKey(user string, from netip.Addr) key {
	return key{user, Site(from), true}
}
func addressKey(from netip.Addr) key {
	return key{from: Site(from)}
}

// Site is what counts as one place: the address; of IPv6 the network that one site is given.
func Site(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
