package sshserver

import (
	"slices"
	"sync"
)

// connLimiter bounds the connections of a listener. When there are too many, the one that has
// been trying to log in for longest is ended for the one that comes: who connects and
// says nothing locks nobody out. Those who are logged in stay.
type connLimiter struct {
	max int

	mu      sync.Mutex
	in      int
	pending []*limitedConn // not logged in yet, oldest first
}

// limitedConn is one connection.
type limitedConn struct {
	end  func() // ends it
	gone bool   // it holds no place any more
}

// enter gives a connection a place; nil when all are held by users logged in.
func (l *connLimiter) enter(end func()) *limitedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.in >= l.max {
		if len(l.pending) == 0 {
			return nil
		}
		oldest := l.pending[0]
		l.release(oldest)
		oldest.end()
	}
	c := &limitedConn{end: end}
	l.in++
	l.pending = append(l.pending, c)
	return c
}

// loggedIn notes that a connection's user is known; false when its place is lost.
func (l *connLimiter) loggedIn(c *limitedConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known(c)
	return !c.gone
}

// leave gives the place back.
func (l *connLimiter) leave(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.gone {
		l.release(c)
	}
}

func (l *connLimiter) release(c *limitedConn) {
	l.known(c)
	c.gone = true
	l.in--
}

func (l *connLimiter) known(c *limitedConn) {
	if at := slices.Index(l.pending, c); at >= 0 {
		l.pending = slices.Delete(l.pending, at, at+1)
	}
}
