package throttle

// Keys is how many counters are held.
func (l *Limiter) Keys() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.counts)
}
