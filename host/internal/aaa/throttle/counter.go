package throttle

import (
	"slices"
	"time"
)

// counter counts the failures of a user or an address, and orders those who try. Its
// limiter's lock guards it.
type counter struct {
	free     int // failures without delay
	failures int
	last     time.Time // failure
	until    time.Time // refused until

	active int       // attempts in progress, whose outcome is not known yet
	queue  []*waiter // those that wait, in turn
}

// waiter is an attempt that waits for its turn.
type waiter struct {
	woken   chan struct{} // closed when its turn has come, or will come too late
	refused bool          // too late
}

// hasRoom reports whether one more attempt may be under way: were all those under way to
// fail, this one would still be without delay. Where failures cost delay, it is one
// at a time.
func (c *counter) hasRoom() bool {
	return c.active < max(1, c.free-c.failures)
}

// blockedError is a *BlockedError while attempts are refused.
func (c *counter) blockedError(now time.Time) error {
	if wait := c.until.Sub(now); wait > 0 {
		return &BlockedError{wait}
	}
	return nil
}

// admitWaiters lets in those for whom there is room; all of them when the counter is blocked,
// so that they are refused at once.
func (c *counter) admitWaiters(now time.Time) {
	for len(c.queue) > 0 && (c.hasRoom() || c.until.After(now)) {
		c.active++
		close(c.queue[0].woken)
		c.queue = slices.Delete(c.queue, 0, 1)
	}
}

// removeWaiter takes one out of the queue; false when it has been admitted already.
func (c *counter) removeWaiter(w *waiter) bool {
	at := slices.Index(c.queue, w)
	if at < 0 {
		return false
	}
	c.queue = slices.Delete(c.queue, at, at+1)
	return true
}

func (c *counter) isIdle() bool {
	return c.active == 0 && len(c.queue) == 0
}
