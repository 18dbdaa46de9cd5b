package throttle

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// The states of an account or address whose logins fail.
const (
	Delayed = "delayed" // the next attempt is answered later
	Blocked = "blocked" // attempts are refused unseen
)

// Lockout is an account or address that is delayed or blocked: User is empty for an address. From is the address that
// is counted alone, of an account one that the user has logged in from before.
type Lockout struct {
	User     string
	From     netip.Addr
	State    string
	Failures int
	Until    time.Time // of one that is blocked
}

// Kind is what is counted, account or address, for metrics, which have no names.
func (o Lockout) Kind() string {
	if o.User != "" {
		return "account"
	}
	return "address"
}

// OnLockout has notify called when an account or an address is first delayed and first blocked. It must not block.
func (l *Limiter) OnLockout(notify func(Lockout)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onLockout = notify
}

// lockoutOf is a counter as it is, with the state it has at now; false if it has none.
func (l *Limiter) lockoutOf(k key, c *counter, now time.Time) (Lockout, bool) {
	o := Lockout{
		User:     k.user,
		From:     k.from,
		State:    Delayed,
		Failures: c.failures,
	}
	if c.until.After(now) {
		o.State, o.Until = Blocked, c.until
	}
	return o, o.State == Blocked || c.failures >= c.free && now.Sub(c.last) < l.s.Forget
}

// Lockouts lists the accounts and addresses that are delayed or blocked, the newest blocks first.
func (l *Limiter) Lockouts() []Lockout {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var out []Lockout
	for k, c := range l.counts {
		if o, ok := l.lockoutOf(k, c, now); ok {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b Lockout) int {
		return cmp.Or(b.Until.Compare(a.Until), cmp.Compare(a.User, b.User), a.From.Compare(b.From))
	})
	return out
}

// Unblock forgets the failures of an account, or of an address, and reports whether there were any.
func (l *Limiter) Unblock(user string, from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for k, c := range l.counts {
		if k.user != user || user == "" && k != addressKey(from) || c.failures == 0 {
			continue
		}
		found = true
		c.failures, c.until = 0, time.Time{}
		c.admitWaiters(l.now())
		l.dropIdle(k, c)
	}
	return found
}
