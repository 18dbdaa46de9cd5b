package sshserver

import (
	"slices"
	"sync"
)

// door bounds the connections of a listener. When there are too many, the one that has
// been trying to log in for longest is ended for the one that comes: who connects and
// says nothing locks nobody out. Those who are logged in stay.
type door struct {
	most int

	mu     sync.Mutex
	in     int
	comers []*visitor // not logged in yet, oldest first
}

// visitor is one connection.
type visitor struct {
	end  func() // ends it
	gone bool   // it holds no place any more
}

// enter gives a connection a place; nil when all are held by users logged in.
func (d *door) enter(end func()) *visitor {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.in >= d.most {
		if len(d.comers) == 0 {
			return nil
		}
		oldest := d.comers[0]
		d.release(oldest)
		oldest.end()
	}
	v := &visitor{end: end}
	d.in++
	d.comers = append(d.comers, v)
	return v
}

// loggedIn notes that a connection's user is known; false when its place is lost.
func (d *door) loggedIn(v *visitor) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known(v)
	return !v.gone
}

// leave gives the place back.
func (d *door) leave(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !v.gone {
		d.release(v)
	}
}

func (d *door) release(v *visitor) {
	d.known(v)
	v.gone = true
	d.in--
}

func (d *door) known(v *visitor) {
	if at := slices.Index(d.comers, v); at >= 0 {
		d.comers = slices.Delete(d.comers, at, at+1)
	}
}
