package throttle

import (
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
	number := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	span := func(n *time.Duration, d time.Duration) {
		if *n == 0 {
			*n = d
		}
	}
	span(&s.FirstDelay, 250*time.Millisecond)
	span(&s.MaxDelay, 4*time.Second)
	number(&s.UserFree, 3)
	delays := 0
	for d := s.FirstDelay; d <= s.MaxDelay && delays < 30; d *= 2 {
		delays++
	}
	number(&s.UserBlock, s.UserFree+max(1, delays))
	number(&s.AddressFree, 10*s.UserFree)
	number(&s.AddressBlock, 10*s.UserBlock)
	span(&s.Block, 30*time.Second)
	span(&s.MaxBlock, 15*time.Minute)
	span(&s.Forget, 15*time.Minute)
	return s
}

// maxKeys bounds the memory that guessing with ever new names can take.
const maxKeys = 20_000

type state struct {
	failures int
	last     time.Time
	until    time.Time // refused until
}

// Limiter counts failures. It is safe for concurrent use.
type Limiter struct {
	s   Settings
	now func() time.Time

	failing atomic.Int64 // how many counters there are, about

	mu     sync.Mutex
	counts map[key]*state
	// trusted holds users at addresses they have logged in from: guessing from
	// elsewhere does not lock them out.
	trusted map[key]time.Time
}

// New returns a limiter; now is the clock, nil for the real one.
func New(s Settings, now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now
	}
	return &Limiter{s: s.withDefaults(), now: now, counts: map[key]*state{}, trusted: map[key]time.Time{}}
}

// Begin is called before a password is verified. The attempt counts as failed
// until Succeeded says otherwise, so that many at once gain nothing. When
// retryAfter is not zero the attempt is refused; else it must wait for delay.
func (l *Limiter) Begin(user string, from netip.Addr) (delay, retryAfter time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	u, a := l.state(l.counter(user, from, now), now), l.state(addressKey(from), now)
	if wait := max(u.until.Sub(now), a.until.Sub(now)); wait > 0 {
		return 0, wait
	}
	delay = max(l.count(u, now, l.s.UserFree, l.s.UserBlock), l.count(a, now, l.s.AddressFree, l.s.AddressBlock))
	return delay, 0
}

// Succeeded is called when the password was right.
func (l *Limiter) Succeeded(user string, from netip.Addr) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.counts, l.counter(user, from, now))
	address := addressKey(from)
	if a := l.counts[address]; a != nil {
		a.failures, a.until = max(0, a.failures-1), time.Time{}
		if a.failures == 0 {
			delete(l.counts, address)
		}
	}
	l.failing.Store(int64(len(l.counts)))
	if len(l.trusted) >= maxKeys {
		clear(l.trusted)
	}
	l.trusted[pairKey(user, from)] = now
}

// Seen is called when a user sends credentials that were verified before: what
// went wrong at this address is forgiven, guesses from elsewhere still count.
func (l *Limiter) Seen(name, domain string, from netip.Addr) {
	if l.failing.Load() == 0 {
		return // the common case, without a lock
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.counts, pairKey(name+"@"+domain, from))
	l.failing.Store(int64(len(l.counts)))
}

// Cancelled is called when the password could not be verified at all.
func (l *Limiter) Cancelled(user string, from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range []key{l.counter(user, from, l.now()), addressKey(from)} {
		if s := l.counts[k]; s != nil {
			s.failures = max(0, s.failures-1)
		}
	}
}

// counter is the key that counts a user's failures from an address.
func (l *Limiter) counter(user string, from netip.Addr, now time.Time) key {
	pair := pairKey(user, from)
	if t, ok := l.trusted[pair]; ok && now.Sub(t) < 24*time.Hour {
		return pair
	}
	return key{user: user}
}

func (l *Limiter) count(s *state, now time.Time, free, block int) time.Duration {
	s.failures++
	s.last = now
	if s.failures >= block {
		s.until = now.Add(double(l.s.Block, l.s.MaxBlock, s.failures-block))
	}
	if s.failures <= free {
		return 0
	}
	return double(l.s.FirstDelay, l.s.MaxDelay, s.failures-free-1)
}

// double returns first doubled n times, at most limit.
func double(first, limit time.Duration, n int) time.Duration {
	if n > 30 || first<<n > limit || first<<n <= 0 {
		return limit
	}
	return first << n
}

func (l *Limiter) state(k key, now time.Time) *state {
	s := l.counts[k]
	if s != nil && now.Sub(s.last) < l.s.Forget+max(0, s.until.Sub(s.last)) {
		return s
	}
	if s == nil && len(l.counts) >= maxKeys {
		l.sweep(now)
	}
	s = &state{}
	l.counts[k] = s
	l.failing.Store(int64(len(l.counts)))
	return s
}

// sweep forgets what is old, and when all is new, half of what is not blocked.
func (l *Limiter) sweep(now time.Time) {
	for k, s := range l.counts {
		if now.Sub(s.last) >= l.s.Forget {
			delete(l.counts, k)
		}
	}
	for k, s := range l.counts {
		if len(l.counts) < maxKeys/2 {
			return
		}
		if !s.until.After(now) {
			delete(l.counts, k)
		}
	}
	if len(l.counts) >= maxKeys {
		clear(l.counts)
	}
}

// key is what failures are counted by: a user from anywhere, an address, or a user at
// an address.
type key struct {
	user string
	from netip.Addr
	pair bool // an address may be none, as that of the console
}

func pairKey(user string, from netip.Addr) key { return key{user, site(from), true} }
func addressKey(from netip.Addr) key           { return key{from: site(from)} }

// site is the address; of IPv6 the network that one site is given.
func site(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
