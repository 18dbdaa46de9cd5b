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
		now := map[string]*string{}
		for _, s := range steps {
			for i, a := range s.Assigns {
				now[a.OID] = [...]*string{a.To, a.From, nil, &shown}[i%4]
			}
		}
		whole(steps, now)
		for _, s := range steps {
			set, foreign := undo(s, now)
			if len(set) > len(s.Assigns) || len(foreign) > len(s.Assigns) {
				t.Errorf("%v of %v", set, s)
			}
			before := map[string]*string{}
			for _, a := range s.Assigns {
				before[a.OID] = a.From
			}
			if len(before) == len(s.Assigns) {
				for _, a := range s.Assigns {
					if set, _ := undo(s, before); len(set) > 0 && a.Kind != writes.Octets { // octets that are none are never the same
						t.Errorf("%v is taken back twice by %v", s, set)
					}
				}
			}
		}
	})
}
