package right

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

const benches = `{"set":[
	{"name":"bench 3","switch":[{"node-id":"1","port":["1-6"]}],"vlan":["100-120","4000"]},
	{"name":"bench 4","switch":[{"node-id":"1","port":["7","9"]},{"node-id":"2"}],"vlan":["200"]},
	{"name":"ports only","switch":[{"node-id":"3","port":["1"]}]}],
	"right":[
	{"holder":"user:ann@sdn","set":"bench 3","may":"change"},
	{"holder":"user:ann@sdn","set":"bench 4","may":"view"},
	{"holder":"role:lab","set":"bench 4","may":"change"},
	{"holder":"user:pia@sdn","set":"ports only","may":"change"}]}`

func compiled(t *testing.T, text string) *Rights {
	t.Helper()
	r, err := Compile(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatIsInTheSetsIsPermitted(t *testing.T) {
	r := compiled(t, benches)
	for _, c := range []struct {
		user         string
		roles        []string
		what         Resource
		view, change bool
	}{
		{"ann@sdn", nil, Resource{"1", 1, 100}, true, true},
		{"ann@sdn", nil, Resource{"1", 6, 4000}, true, true},
		{"ann@sdn", nil, Resource{"1", 7, 100}, false, false}, // the port and the VLAN are in different sets
		{"ann@sdn", nil, Resource{"1", 7, 200}, true, false},  // viewed only
		{"ann@sdn", nil, Resource{"1", 1, 200}, false, false}, // of the other set
		{"ann@sdn", nil, Resource{"1", 1, 121}, false, false}, // after the range
		{"ann@sdn", nil, Resource{"1", 1, 99}, false, false},  // before it
		{"ann@sdn", nil, Resource{"1", 8, 0}, false, false},   // between the ports
		{"ann@sdn", nil, Resource{"1", 3, 0}, true, true},     // a port alone
		{"ann@sdn", nil, Resource{"1", 0, 110}, true, true},   // a VLAN without ports
		{"ann@sdn", nil, Resource{"1", 0, 0}, true, false},    // the whole switch
		{"ann@sdn", nil, Resource{"2", 0, 0}, true, false},    // viewed only
		{"ann@sdn", nil, Resource{"", 0, 100}, false, false},  // no switch
		{"ann@sdn", nil, Resource{"", 0, 0}, false, false},    // nothing
		{"ann@sdn", []string{"lab"}, Resource{"2", 0, 0}, true, true},
		{"bob@sdn", []string{"lab"}, Resource{"2", 48, 200}, true, true},
		{"bob@sdn", []string{"lab"}, Resource{"2", 48, 100}, false, false},
		{"pia@sdn", nil, Resource{"3", 1, 0}, true, true},
		{"pia@sdn", nil, Resource{"3", 1, 1}, false, false}, // a set without VLANs has none
	} {
		s := r.Of(c.user, c.roles)
		if s == nil {
			t.Fatalf("%s has no right", c.user)
		}
		if view, change := s.Permits(c.what, false), s.Permits(c.what, true); view != c.view || change != c.change {
			t.Errorf("%s %v, %s: view %v, change %v", c.user, c.roles, c.what, view, change)
		}
	}
	for _, user := range []string{"bob@sdn", "ann@other", "Ann@sdn", "ann"} {
		if r.Of(user, []string{"user", "labs"}) != nil {
			t.Errorf("%s has a right", user)
		}
	}
	if got := r.With(Resource{"1", 7, 200}, true); !slices.Equal(got, []string{"bench 4"}) {
		t.Error(got)
	}
	if got := r.Of("ann@sdn", nil).String(); got != `"bench 3" (change), "bench 4" (view)` {
		t.Error(got)
	}
}

func TestWrongRightsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"set":[{"name":"a","vlan":["0"]}]}`:                                             "set=a: vlan",
		`{"set":[{"name":"a","vlan":["5-4"]}]}`:                                           "5-4",
		`{"set":[{"name":"a","vlan":["4095"]}]}`:                                          "4094",
		`{"set":[{"name":"a","switch":[{"node-id":"sw1"}]}]}`:                             "no node-id",
		`{"set":[{"name":"a","switch":[{"node-id":"1","port":["ge1"]}]}]}`:                "ge1",
		`{"set":[{"name":"a"}],"right":[{"holder":"ann","set":"a","may":"view"}]}`:        "neither user:",
		`{"set":[{"name":"a"}],"right":[{"holder":"user:ann","set":"a","may":"view"}]}`:   "user:ann@sdn",
		`{"set":[{"name":"a"}],"right":[{"holder":"role:admin","set":"a","may":"view"}]}`: "admin",
		`{"set":[{"name":"a"}],"right":[{"holder":"role:x","set":"a","may":"own"}]}`:      "own",
		`{"right":[{"holder":"role:x","set":"a","may":"view"}]}`:                          "no set",
		`{"sets":[]}`: "aaa-rights",
	} {
		_, err := Compile(json.RawMessage(text))
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if got := Spans([]uint32{3, 1, 2, 7, 9, 10, 2}); !slices.Equal(got, []string{"1-3", "7", "9-10"}) {
		t.Error(got)
	}
}
