package discovery

import (
	"maps"

	"ctl.internal/plugins/switch/mib"
)

// Known is what is known of the switches.
type Known struct {
	Told   map[mib.MAC]*Observation
	Failed map[mib.MAC]error // why a switch did not answer the last time
	Last   Summary           // of the last discovery that was finished
}

// Known returns what is known now. The observations must not be changed.
func (s *Surveyor) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Known{maps.Clone(s.told), maps.Clone(s.failed), s.last}
}

// Adopt shows what another process has observed. While this one observes by itself it
// does nothing.
func (s *Surveyor) Adopt(k Known) {
	s.mu.Lock()
	if s.running {
		s.mu.Unlock()
		return
	}
	s.told, s.failed, s.last = maps.Clone(k.Told), maps.Clone(k.Failed), k.Last
	nothing := len(s.told) == 0 && s.net == nil
	s.mu.Unlock()
	if !nothing {
		s.publish(&run{cause: Adopted})
	}
}
