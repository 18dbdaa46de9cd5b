package mibdriver

import (
	"encoding/json"
	"testing"

	"ctl.internal/plugins/switch/writes"
)

// Whatever steps stand in the journal, and whatever a switch shows, taking back what
// shows of them comes to an end that is not changed by being taken back again.
func FuzzSteps(f *testing.F) {
	f.Add([]byte(`[{"what":"VLAN 5","assigns":[{"oid":".1.5","kind":"row","to":"1"},{"oid":".1.2","kind":"octets","from":"c000","to":"e000"},{"oid":".1.3","kind":"gauge","from":"1","to":"5"}]}]`), "1")
	f.Add([]byte(`[{"what":"s","assigns":[{"oid":".1","kind":"arp","to":"4"}]},{"what":"t","assigns":[{"oid":".1","kind":"fdb","from":"3"}]}]`), "2")
	f.Fuzz(func(t *testing.T, text []byte, shown string) {
		var steps []writes.Step
		if json.Unmarshal(text, &steps) != nil {
			return
		}
		now := values{}
		for _, s := range steps {
			for i, a := range s.Assigns {
				now[a.OID] = [...]*string{a.To, a.From, nil, &shown}[i%4]
			}
		}
		unlikeAssignments(steps, now)
		changedAssignments(steps, now, false)
		changedAssignments(steps, now, true)
		describeDifferences(steps, now)
		_, all := assignmentChains(steps)
		for _, s := range steps {
			undoStep(s, all, now, true)
			ways, foreign := undoStep(s, all, now, false)
			if len(ways) == 1 && len(ways[0][0]) > len(s.Assigns) || len(foreign) > len(s.Assigns) {
				t.Errorf("%v of %v", ways, s)
			}
			before := values{}
			for _, a := range s.Assigns {
				before[a.OID] = a.From
			}
			if len(before) == len(s.Assigns) {
				for _, a := range s.Assigns {
					_, own := assignmentChains([]writes.Step{s})
					if set, _ := undoStep(s, own, before, false); len(set) > 0 && a.Kind != writes.Octets { // octets that are none are never the same
						t.Errorf("%v is taken back twice by %v", s, set)
					}
				}
			}
		}
	})
}
