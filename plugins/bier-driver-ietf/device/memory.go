package device

import (
	"sync"

	"ctl.internal/sdk/bierdriver"
)

// memory is what was applied last, by node-id. It outlives links, since a router may
// be called without being watched. What it does not know is read from the router.
type memory struct {
	mu   sync.Mutex
	last map[string]*bierdriver.Config
	slow map[string]bool // routers that are asked one thing at a time
}

func (m *memory) oneByOne(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.slow[id]
}

func (m *memory) beSlow(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow[id] = true
}

// of returns what a router was brought to last, nil: not known.
func (m *memory) of(id string) *bierdriver.Config {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[id]
}

// keep takes c in; it must not be changed any more.
func (m *memory) keep(id string, c *bierdriver.Config) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last[id] = c
}
