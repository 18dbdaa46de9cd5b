package service

import (
	"sync"

	"ctl.internal/sdk/bierdriver"
)

// sessions are the sessions as the drivers told of them last.
type sessions struct {
	mu  sync.Mutex
	all map[string]*bierdriver.Session
}

func newSessions() *sessions { return &sessions{all: map[string]*bierdriver.Session{}} }

// put notes a session and returns the state before.
func (s *sessions) put(node string, n *bierdriver.Session) bierdriver.SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.all[node].GetState()
	if len(n.Capabilities) == 0 { // what it announced last still helps to choose a driver
		n.Capabilities = s.all[node].GetCapabilities()
	}
	s.all[node] = n
	return before
}

// get returns a session, nil when none was told of. Do not change it.
func (s *sessions) get(node string) *bierdriver.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[node]
}

func (s *sessions) drop(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, node)
}
