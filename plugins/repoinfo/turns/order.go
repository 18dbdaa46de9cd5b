package turns

import (
	"slices"
	"time"

	"ctl.internal/sdk/fault"
)

// grantTurns fills the free places.
func (q *Queue) grantTurns() {
	for q.running < q.Places {
		best := -1
		for i, t := range q.waiting {
			if (t.begun || q.mayBegin(t)) && (best < 0 || q.ranksBefore(t, q.waiting[best])) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		t := q.waiting[best]
		q.waiting = slices.Delete(q.waiting, best, best+1)
		q.clock++
		owner := q.userOf(t.users[0])
		if !t.begun {
			t.begun = true
			owner.waiting--
			q.begins--
			owner.begun++
		}
		owner.running++
		for _, name := range t.users {
			if u := q.users[name]; u != nil {
				u.last, u.projects[t.project] = q.clock, q.clock
			}
		}
		q.running++
		t.running, t.since = true, time.Now()
		close(t.granted)
	}
}

func (q *Queue) mayBegin(t *Turn) bool {
	for _, name := range t.users {
		u := q.users[name]
		if u == nil || u.begun < q.Started {
			return true
		}
	}
	return false
}

// rankTurn orders turns: the fewest running turns of the user, the user and then the project
// served longest ago. Of several users of a turn the best counts.
func (q *Queue) rankTurn(t *Turn) (best [3]uint64) {
	for i, name := range t.users {
		var r [3]uint64
		if u := q.users[name]; u != nil {
			r = [3]uint64{uint64(u.running), u.last, u.projects[t.project]}
		}
		if i == 0 || slices.Compare(r[:], best[:]) < 0 {
			best = r
		}
	}
	return best
}

func (q *Queue) ranksBefore(a, b *Turn) bool {
	x, y := q.rankTurn(a), q.rankTurn(b)
	return slices.Compare(x[:], y[:]) < 0
}

// BusyError says that too many turns wait.
type BusyError struct {
	Own   bool // of this user; else of all together
	Limit int
}

// Error names the limit.
func (e *BusyError) Error() string {
	return e.toFault().Error()
}

// Unwrap gives the kind.
func (e *BusyError) Unwrap() error { return e.toFault() }

func (e *BusyError) toFault() *fault.Error {
	if e.Own {
		return fault.New(fault.Unavailable,
			"%d of your questions wait for their turn already: ask again when some are answered", e.Limit)
	}
	return fault.New(fault.Unavailable, "%d requests are waiting: try again later", e.Limit)
}
