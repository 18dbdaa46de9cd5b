package simswitch

// Discovery is how a switch shows its neighbours by SNMP.
type Discovery string

// The ways. Whatever it is, switches of a network tell each other what they are:
// it is the MIB that differs, as it does between makes.
const (
	LLDP   Discovery = "lldp"    // LLDP-MIB (IEEE 802.1AB-2005), the default
	LLDPV2 Discovery = "lldp-v2" // LLDP-V2-MIB (IEEE 802.1AB-2016) only
	CDP    Discovery = "cdp"     // CISCO-CDP-MIB only
	Both   Discovery = "both"    // LLDP-MIB and CISCO-CDP-MIB
	Mute   Discovery = "none"    // no MIB with neighbours
)

// Discoveries are all ways there are.
func Discoveries() []Discovery { return []Discovery{LLDP, LLDPV2, CDP, Both, Mute} }

// Discovery returns how the switch shows its neighbours.
func (s *Switch) Discovery() Discovery {
	if s.cfg.Discovery == "" {
		return LLDP
	}
	return s.cfg.Discovery
}

// shows reports whether the switch has the MIB of a way.
func (s *Switch) shows(d Discovery) bool {
	own := s.Discovery()
	return own == d || own == Both && (d == LLDP || d == CDP)
}

// shown hides objects from switches that do not have their MIB.
func shown(d Discovery, objects []object) []object {
	for i := range objects {
		next, get := objects[i].Next, objects[i].Get
		objects[i].Next = func(s *Switch, after, dst oid) (oid, bool) {
			if !s.shows(d) {
				return dst, false
			}
			return next(s, after, dst)
		}
		objects[i].Get = func(s *Switch, inst oid) (value, bool) {
			if !s.shows(d) {
				return value{}, false
			}
			return get(s, inst)
		}
	}
	return objects
}
