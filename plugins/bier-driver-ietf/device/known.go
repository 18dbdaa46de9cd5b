package device

import (
	"sync"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/bierdriver"
)

// known is what the router holds, as far as that is certain without asking: it was
// read or written on this session, and the router reports changes by others
// (netconf-config-change), which has not happened since. link.mu protects it.
type known struct {
	follows *netconf.Session // whose router reports changes; nil: none does
	config  *bierdriver.Config
	mark    uint64 // grows with each thing that casts doubt
}

// setFollowedSession says that changes by others are reported while s is open; nil: no more.
func (l *link) setFollowedSession(s *netconf.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = known{follows: s, mark: l.known.mark + 1}
}

// forgetConfig forgets what is known, and what is being learned just now.
func (l *link) forgetConfig() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known.config = nil
	l.known.mark++
}

// recallConfig returns what the router holds, nil when it must be read, and a mark for learn.
func (l *link) recallConfig() (*bierdriver.Config, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.follows == nil || l.known.follows != l.session {
		return nil, l.known.mark
	}
	return l.known.config, l.known.mark
}

// learnConfig keeps what the router holds, unless something happened since recall. It must
// not be changed any more.
func (l *link) learnConfig(c *bierdriver.Config, mark uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.mark == mark && l.known.follows != nil && l.known.follows == l.session {
		l.known.config = c
	}
}

// memory outlives links, since a router may be called without being watched. What it does not know is
// read from the router.
type memory struct {
	last sync.Map // of *bierdriver.Config, by node-id: what was applied last; they are not changed any more
	slow sync.Map // node-ids of routers that are asked one thing at a time
}

// lastConfig returns what a router was brought to last, nil: not known.
func (m *memory) lastConfig(id string) *bierdriver.Config {
	last, _ := m.last.Load(id)
	c, _ := last.(*bierdriver.Config)
	return c
}
