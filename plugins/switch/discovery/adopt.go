package discovery

import (
	"maps"

	"ctl.internal/plugins/switch/mib"
)

// Known is what is known of the switches.
type Known struct {
	Observed map[mib.MAC]*Observation
	Failed   map[mib.MAC]error // why a switch did not answer the last time
	Last     Summary           // of the last discovery that was finished
}

// Known returns what is known now. The observations must not be changed.
func (s *Surveyor) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Known{maps.Clone(s.observed), maps.Clone(s.failed), s.last}
}

// Adopt shows what another process has observed. While this one observes by itself it
// does nothing.
func (s *Surveyor) Adopt(k Known) {
	s.mu.Lock()
	if s.running {
		s.mu.Unlock()
		return
	}
	s.observed, s.failed, s.last = maps.Clone(k.Observed), maps.Clone(k.Failed), k.Last
	nothing := len(s.observed) == 0 && s.net == nil
	s.mu.Unlock()
	if !nothing {
		s.publish(&run{cause: Adopted})
	}
}
