package throttle

import "runtime"

// Keys is how many counters are held.
func (l *Limiter) Keys() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.counts)
}

// AwaitEntered returns once n attempts are under way or wait for their turn.
func (l *Limiter) AwaitEntered(n int) {
	for l.entered() < n {
		runtime.Gosched()
	}
}

func (l *Limiter) entered() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, c := range l.counts {
		if k.user != "" { // each attempt is at one user's counter
			n += c.active + len(c.queue)
		}
	}
	return n
}
