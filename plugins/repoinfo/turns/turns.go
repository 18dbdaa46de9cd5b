// Package turns lets users share a few working places fairly: between users first, then
// between the projects of a user, then by age. Long work gives its place back from time
// to time, so that a small question of one user never waits for a large one of another.
package turns

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Queue hands out the places. Set its members before the first use.
type Queue struct {
	Places  int           // turns that run at a time
	Started int           // turns of one user that are begun at a time, paused ones included
	Waiting int           // turns of one user that wait to begin; more are refused
	Total   int           // turns of all users that wait to begin; more are refused
	Slice   time.Duration // how long a turn runs before Pause lets others go first

	mu      sync.Mutex
	running int
	clock   uint64           // counts grants
	users   map[string]*user // those with a turn
	waiting []*Turn          // oldest first
	begins  int              // of waiting: those that have not begun
}

type user struct {
	running, begun, waiting int
	last                    uint64 // clock of the last grant
	projects                map[string]uint64
}

// Turn is one piece of work. It belongs to one goroutine, but for Join.
type Turn struct {
	queue   *Queue
	users   []string // whose it is: the first began it
	project string
	granted chan struct{}
	begun   bool
	running bool
	since   time.Time
}

// New makes a turn that is not queued yet.
func (q *Queue) New(user, project string) *Turn {
	return &Turn{
		queue:   q,
		users:   []string{user},
		project: project,
	}
}

// Join makes the turn another user's too: it is as urgent as for the one of them who has
// waited longest.
func (t *Turn) Join(user string) {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	if slices.Contains(t.users, user) {
		return
	}
	if len(t.users) < 64 {
		t.users = append(t.users, user)
	}
	t.queue.grantTurns()
}

// Begin waits for a place. It fails when ctx ends, and at once when too many wait.
func (t *Turn) Begin(ctx context.Context) error {
	q := t.queue
	q.mu.Lock()
	u := q.userOf(t.users[0])
	switch {
	case u.waiting >= q.Waiting:
		q.mu.Unlock()
		return &BusyError{Own: true, Limit: q.Waiting}
	case q.begins >= q.Total:
		q.mu.Unlock()
		return &BusyError{Limit: q.Total}
	}
	u.waiting++
	q.begins++
	return t.waitGranted(ctx)
}

// Pause lets others go first when this turn has run for a slice and somebody waits.
func (t *Turn) Pause(ctx context.Context) error {
	if time.Since(t.since) < t.queue.Slice {
		return nil
	}
	q := t.queue
	q.mu.Lock()
	if len(q.waiting) == 0 {
		t.since = time.Now()
		q.mu.Unlock()
		return nil
	}
	t.releasePlace()
	return t.waitGranted(ctx)
}

// Late fires when a slice has passed.
func (t *Turn) Late() <-chan time.Time {
	return time.After(t.queue.Slice)
}

// waitGranted queues the turn and returns when it runs. It is called with the lock, and gives
// it back.
func (t *Turn) waitGranted(ctx context.Context) error {
	q := t.queue
	t.granted = make(chan struct{})
	q.waiting = append(q.waiting, t)
	q.grantTurns()
	q.mu.Unlock()
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, t)
	if i >= 0 { // else it was granted meanwhile; End gives the place back
		q.waiting = slices.Delete(q.waiting, i, i+1)
		if !t.begun {
			q.users[t.users[0]].waiting--
			q.begins--
		}
		q.forgetUser(t.users[0])
	}
	return ctx.Err()
}

// End gives the place back. It may be called whatever Begin returned.
func (t *Turn) End() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	t.releasePlace()
	if t.begun {
		t.begun = false
		q.users[t.users[0]].begun--
	}
	q.forgetUser(t.users[0])
	q.grantTurns()
}

func (t *Turn) releasePlace() {
	if t.running {
		t.running = false
		t.queue.running--
		t.queue.users[t.users[0]].running--
	}
}

func (q *Queue) userOf(name string) *user {
	if q.users == nil {
		q.users = map[string]*user{}
	}
	u := q.users[name]
	if u == nil {
		u = &user{projects: map[string]uint64{}}
		q.users[name] = u
	}
	return u
}

func (q *Queue) forgetUser(name string) {
	u := q.users[name]
	if u != nil && u.running+u.begun+u.waiting == 0 {
		delete(q.users, name)
	}
}
