package plan

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/switchdriver"
)

const inYAML = `name: office
vlans: [{id: 10, name: office}, {id: 20, name: phones}]
switches:
- switch: sw1
  vlans: [20]
  ports:
  - {port: 3, untagged: 10, tagged: [], description: room 3, state: up}
  - {port: port4, tagged: [10, 20]}
`

const inJSON = `{"name":"office","vlans":[{"id":10,"name":"office"},{"id":20,"name":"phones"}],"switches":[
{"switch":"sw1","vlans":[20],"ports":[{"port":"3","untagged":10,"tagged":[],"description":"room 3","state":"up"},
{"port":"port4","tagged":[10,20]}]}]}`

const inCSV = "switch,port,untagged,tagged,description,state,vlan,name\n,,,,,,10,office\nsw1,,,,,,20,phones\n" +
	"sw1,3,10,-,room 3,up,,\nsw1,port4,,10 20,,,,\n"

// The three forms say the same.
func TestParse(t *testing.T) {
	want, err := Parse([]byte(inYAML))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{inJSON, "name: office\n" + inYAML[len("name: office\n"):], inCSV} {
		got, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got.Name = want.Name // CSV has none
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", text, got, want)
		}
	}
	if want.NameOf(20) != "phones" || want.NameOf(30) != "" {
		t.Error("names of VLANs")
	}
}

// The plan that the documentation shows.
func TestParseExample(t *testing.T) {
	text, err := os.ReadFile("testdata/office.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Parse(text); err != nil || len(p.Switches) != 1 || len(p.Switches[0].Ports) != 2 {
		t.Errorf("%v %+v", err, p)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "is empty",
		"name: x":                                "has 0 switches",
		"name: x\n---\nname: y":                  "more than one document",
		"nam: x":                                 "nam not found",
		"switches: [{switch: a}, {switch: A}]":   "twice",
		"switches: [{switch: a, vlans: [5000]}]": "5000 is not a VLAN",
		"switches: [{switch: a, vlans: [-1]}]":   "cannot be read",
		"switches: [{switch: a, vlans: [1.5]}]":  "no whole number",
		"switches: [{switch: a, ports: [{port: 1, untagged: 4095}]}]":           "4095 is not a VLAN",
		"switches: [{switch: a, ports: [{port: 1, untagged: 5, tagged: [5]}]}]": "is there twice",
		"switches: [{switch: a, ports: [{untagged: 5}]}]":                       "has no name",
		"switches: [{switch: a, ports: [{port: 1, state: off}]}]":               "neither up nor down",
		"switches: [{switch: a, ports: [{port: 1, description: \"a\\tb\"}]}]":   "printable ASCII",
		"vlans: [{id: 5, name: a}, {id: 5, name: b}]\nswitches: [{switch: a}]":  "two names",
		"vlans: [{id: 5, name: é}]\nswitches: [{switch: a}]":                    "printable ASCII",
		"switch,prt\nsw1,3\n":              `column "prt"`,
		"switch,port,untagged\nsw1,3,x\n":  "line 2",
		"switch,port\n,3\n":                "has no switch",
		"switch,port\nsw1,3,4\n":           "cannot be read",
		strings.Repeat(" ", maxDocument+1): "are the most",
		"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b]": "cannot be read",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, not %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{inYAML, inJSON, inCSV, "switch\n", "{", "switch,port\n\"a"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := Parse(text); err == nil && len(p.Switches) == 0 {
			t.Error("a plan without switches")
		}
	})
}

func list(ids ...uint32) *[]uint32 { return &ids }

// The changes that make a switch with the ports 1 to 4 as planned, and none once they are made.
func TestChanges(t *testing.T) {
	vlan := func(id uint32, egress, untagged []uint32) *switchdriver.VLAN {
		return &switchdriver.VLAN{VlanId: id, EgressPorts: egress, UntaggedPorts: untagged}
	}
	all := []uint32{1, 2, 3, 4}
	now := func() State {
		return State{
			VLANs:    []*switchdriver.VLAN{vlan(1, all, all), vlan(5, []uint32{4}, nil)},
			Settings: []*switchdriver.PortSettings{{Port: 1, Up: new(true), Description: new("old")}, {Port: 2}},
		}
	}
	for name, c := range map[string]struct {
		target Target
		want   []string
	}{
		"as it is": {Target{VLANs: map[uint32]string{5: ""}, Ports: map[uint32]Port{1: {Untagged: new(uint32(1)),
			Description: new("old"), State: Up}, 4: {Tagged: list(5)}}}, nil},
		"a VLAN": {Target{VLANs: map[uint32]string{7: "lab"}}, []string{`making VLAN 7: name "lab"`}},
		"a port moves, which the default VLAN needs no write for": {Target{VLANs: map[uint32]string{5: ""},
			Ports: map[uint32]Port{2: {Untagged: new(uint32(5))}}}, []string{"setting the ports of VLAN 5: untagged 2"}},
		"tagged and out again": {Target{VLANs: map[uint32]string{7: ""}, Ports: map[uint32]Port{1: {Tagged: list(7)}, 4: {Tagged: list()}}},
			[]string{"setting the ports of VLAN 5: without 4", "making VLAN 7: tagged 1"}},
		"untagged first": {Target{VLANs: map[uint32]string{5: "", 7: ""}, Ports: map[uint32]Port{1: {Untagged: new(uint32(7)),
			Tagged: list(5)}}}, []string{"making VLAN 7: untagged 1", "setting the ports of VLAN 5: tagged 1"}},
		"from untagged to tagged": {Target{VLANs: map[uint32]string{1: "", 7: ""}, Ports: map[uint32]Port{1: {Untagged: new(uint32(7)),
			Tagged: list(1)}}}, []string{"making VLAN 7: untagged 1", "setting the ports of VLAN 1: tagged 1"}},
		"settings": {Target{Ports: map[uint32]Port{1: {Description: new("new"), State: Down}, 2: {State: Up}}}, []string{
			`setting port 1: description "new" instead of "old"; state down`, "setting port 2: state up"}},
	} {
		state := now()
		changes := c.target.Changes(state)
		var got []string
		for _, change := range changes {
			got = append(got, change.What+": "+change.Detail)
			state.apply(change.Request)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
		if again := c.target.Changes(state); len(again) > 0 {
			t.Errorf("%s: then %+v", name, again)
		}
	}
}

// apply does what a driver does.
func (s *State) apply(request proto.Message) {
	r, ok := request.(*pluginv1.WriteVlanRequest)
	if !ok {
		want := request.(*pluginv1.WritePortSettingsRequest).Settings
		for _, p := range s.Settings {
			if p.Port == want.Port {
				proto.Merge(p, want)
			}
		}
		return
	}
	for i, v := range s.VLANs {
		if v.VlanId == r.Vlan.VlanId {
			s.VLANs[i] = r.Vlan
			continue
		}
		m := membersOf(v)
		for _, p := range r.Vlan.UntaggedPorts {
			if m.untagged[p] {
				delete(m.untagged, p)
				delete(m.egress, p)
			}
		}
		s.VLANs[i] = &switchdriver.VLAN{VlanId: v.VlanId, EgressPorts: sorted(m.egress), UntaggedPorts: sorted(m.untagged)}
	}
	if r.Create {
		s.VLANs = append(s.VLANs, r.Vlan)
	}
}

func sorted(ports map[uint32]bool) (out []uint32) {
	for p := range uint32(65) {
		if ports[p] {
			out = append(out, p)
		}
	}
	return out
}
