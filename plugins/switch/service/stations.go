package service

import (
	"time"

	"ctl.internal/plugins/switch/mib"
)

// sighting is where an address was learned: at a port that leads to no other switch.
type sighting struct {
	MAC    mib.MAC   `json:"mac"`
	Switch mib.MAC   `json:"switch"`
	Port   uint32    `json:"port"`
	VLAN   uint32    `json:"vlan"`
	Since  time.Time `json:"since"`
}

// stationOf is where an address was seen last.
func (s *Service) stationOf(m mib.MAC) (sighting, bool) { return sighting{}, false }
