package aaa

import (
	"sync"
	"time"
)

// After maxSlow answers in a row that came too late, or never, a realm is no longer
// waited for, and left alone for slowPause between tries.
const (
	maxSlow   = 3
	slowPause = time.Second
)

// patience keeps a realm that hangs from delaying the users of the realms after it.
// Once it is lost, one login at a time tries whether the realm answers again, and
// all others go on to the next realm at once.
type patience struct {
	mu     sync.Mutex
	slow   int       // too late in a row
	until  time.Time // nobody asks before, when it is lost
	trying bool
}

// ask reports whether to ask the realm now.
func (p *patience) ask(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slow < maxSlow {
		return true
	}
	if p.trying || now.Before(p.until) {
		return false
	}
	p.trying = true
	return true
}

// answered records an answer.
func (p *patience) answered(now time.Time, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trying = false
	if !late {
		p.slow = 0
		return
	}
	p.slow++
	p.until = now.Add(slowPause)
}
