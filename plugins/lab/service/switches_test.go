package service

import (
	"slices"
	"strings"
	"testing"

	"ctl.internal/plugins/lab/compare"
	"ctl.internal/plugins/lab/intent"
)

func read(t *testing.T, text string) *intent.Lab {
	t.Helper()
	lab, _, err := intent.Read([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

// switches are two of which a topology names the ports that are up.
func switches() *compare.Found {
	f := &compare.Found{Nodes: map[string]*compare.Node{}}
	for id, mac := range map[string]uint64{"sw1": 1, "sw2": 2} {
		f.Nodes[id] = &compare.Node{
			ID:       id,
			Topology: "t",
			Name:     id + ".x",
			MAC:      mac,
			Ports:    []compare.Port{{ID: "1", Name: "port1", Up: true}, {ID: "5"}},
		}
	}
	return f
}

// Each switch is asked for its ports once: where a port has no name yet, and where one is in a VLAN.
func TestSwitchesThatAreAskedForTheirPorts(t *testing.T) {
	for text, want := range map[string]string{
		"links: [sw1:1 -- sw2:port1]":                                     "",
		"links: [sw1:port5 -- sw2:1]":                                     "sw1",
		"vlans: [{id: 100, ports: ['sw1:5', 'sw2:1']}]":                   "sw1 sw2",
		"links: [sw1:7 -- sw2:1, 'SW1:8 -- sw2:5', 'sw1.x:9 -- sw2:p']":   "sw1 sw2",
		"vlans: [{id: 1, ports: ['sw1:5']}, {id: 2, ports: ['sw1.x:5']}]": "sw1",
	} {
		lab := read(t, text)
		var got []string
		for _, n := range nodesToName(lab, compare.Place(lab, switches())) {
			got = append(got, n.ID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// A switch that could not be read has no finding that its ports are in no VLAN.
func TestSwitchesThatCouldNotBeRead(t *testing.T) {
	found := switches()
	again := *found.Nodes["sw1"]
	again.Topology = "other"
	found.Nodes["again"] = &again
	found.Nodes["host"] = &compare.Node{ID: "host"}
	entry := vlansOutput{}
	entry.Entry = append(entry.Entry, struct {
		NodeID   string   `json:"node-id"`
		Tagged   []string `json:"tagged-port"`
		Untagged []string `json:"untagged-port"`
	}{"1", []string{"port1"}, []string{"5"}})
	for text, want := range map[string]string{
		"":                                  "",
		"sw2.x: it does not answer: 5 s":    "it does not answer: 5 s",
		"00:00:00:00:00:02: it is off":      "it is off",
		"and 3 more":                        "it has no port in the VLAN, or is one of those that failed (and 3 more)",
		"sw3: a switch of no topology here": "",
	} {
		out := entry
		if text != "" {
			out.Partial = []string{text}
		}
		tables := newVLANTables(found)
		tables.add(100, out)
		if got := tables.why[found.Nodes["sw2"]]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		for _, key := range []string{"sw1", "again"} {
			n := found.Nodes[key]
			if got := tables.members[n][100]; !slices.Equal(got, []string{"1", "5"}) || tables.why[n] != "" {
				t.Errorf("%q: members at %s: %v, %q", text, key, got, tables.why[n])
			}
		}
		if tables.why[found.Nodes["host"]] == "" {
			t.Error("the VLANs of what is no switch are known")
		}
	}
}
