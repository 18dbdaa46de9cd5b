package survey

import (
	"ctl.internal/plugins/switch/discovery"
)

// Restore gives back what switches told an earlier run of the plugin. It holds, as
// old data, for those that do not answer. Call it before Start.
func (s *Surveyor) Restore(obs []*discovery.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range obs {
		if o == nil || s.told[o.Node] != nil {
			continue
		}
		stale := *o
		stale.Stale = true
		s.told[o.Node] = &stale
	}
}

// Observations returns what all switches last told. They must not be changed.
func (s *Surveyor) Observations() []*discovery.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*discovery.Observation, 0, len(s.told))
	for _, o := range s.told {
		out = append(out, o)
	}
	return out
}
