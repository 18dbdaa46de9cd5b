package identity

import "sync"

// absentNames remembers who is not here, for logins of users whom other realms know:
// the store need not be asked about each of them each time. Like a principal in the
// cache, what it knows is good only for the generation it was found out in.
type absentNames struct {
	mu         sync.RWMutex
	generation uint64
	m          map[string]struct{}
}

// Bounds of what guessed names can make the controller remember: 4 MiB.
const (
	maxAbsent     = 16_384
	maxAbsentName = 256
)

func (a *absentNames) has(id string, generation uint64) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, ok := a.m[id]
	return ok && a.generation == generation
}

// add notes that id was not there when generation, read before, was the one in force.
func (a *absentNames) add(id string, generation uint64) {
	if len(id) > maxAbsentName {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.generation > generation {
		return // a change came meanwhile
	}
	if a.m == nil || a.generation < generation || len(a.m) >= maxAbsent {
		a.generation, a.m = generation, map[string]struct{}{}
	}
	a.m[id] = struct{}{}
}
