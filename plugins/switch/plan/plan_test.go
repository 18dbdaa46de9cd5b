package plan

import (
	"fmt"
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
		"switches: [{switch: a, vlans: [010]}]":  "010 is no decimal number",
		"switches: [{switch: a, ports: [{port: 1, tagged: [0x10]}]}]":           "0x10 is no decimal number",
		"switches: [{switch: &n 012, vlans: [*n]}]":                             "012 is no decimal number",
		"vlans: [{id: 1_0, name: a}]\nswitches: [{switch: a}]":                  "1_0 is no decimal number",
		"switch,port,untagged,untagged\nsw1,p1,10,20\n":                         "untagged is there twice",
		"switch,vlan,name\nsw1,,office\n":                                       `"office" has no vlan`,
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

// What is text stays as it is written, also if it looks like a number or a date.
func TestParseText(t *testing.T) {
	p, err := Parse([]byte("switches: [{switch: 007, ports: [{port: 010, description: 2026-11-28}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	sw := p.Switches[0]
	if sw.Switch != "007" || sw.Ports[0].Port != "010" || *sw.Ports[0].Description != "2026-11-28" {
		t.Errorf("%+v %s", sw, *sw.Ports[0].Description)
	}
}

// However wrong a plan is, its faults are few and short: none of these documents is answered with more than 64 KiB. The
// larger ones would take hours or all memory, if the work grew with the square of their size.
func TestParseIsBounded(t *testing.T) {
	long := strings.Repeat("a", 200_000)
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, "%05x,1\n", i)
	}
	for name, text := range map[string]string{
		"a long name, and VLANs that are none": "switches: [{switch: " + long + ", vlans: [" + strings.Repeat("0,", 40_000) + "0]}]",
		"VLANs that are none":                  "switches: [{switch: s, vlans: [" + strings.Repeat("0,", 50_000) + "0]}]",
		"no numbers":                           "switches: [{switch: s, vlans: [" + strings.Repeat("a,", 50_000) + "0]}]",
		"a long port":                          "switches: [{switch: s, ports: [{port: " + long + ", tagged: [" + strings.Repeat("0,", 40_000) + "0]}]}]",
		"a long port, often":                   "switches: [{switch: s, ports: [&p {port: " + long + ", state: x}" + strings.Repeat(",*p", 20_000) + "]}]",
		"a long member, often":                 "switches: [{switch: s, ports: [&p {" + long + ": 1}" + strings.Repeat(",*p", 20_000) + "]}]",
		"a member, often":                      "switches: [{switch: s" + strings.Repeat(",a: 1", 50_000) + "}]",
		"a long anchor":                        "switches: [*" + long + "]",
		"too many switches":                    "switches: [" + strings.Repeat("{},", 50_000) + "{}]",
		"too many switches, in CSV":            "switch,vlan\n" + many.String(),
	} {
		if _, err := Parse([]byte(text)); err == nil || len(err.Error()) > 64<<10 {
			t.Errorf("%s: %d octets: %.200v", name, len(fmt.Sprint(err)), err)
		}
	}
}

// The names of VLANs are found at once, however many the plan has.
func TestNameOfMany(t *testing.T) {
	p, err := Parse([]byte("vlans: [" + strings.Repeat("{id: 1},", 20_000) + "]\nswitches: [{switch: s, vlans: [" +
		strings.Repeat("2,", 100_000) + "2]}]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range p.Switches[0].VLANs {
		if p.NameOf(id) != "" {
			t.Fatal(id)
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
