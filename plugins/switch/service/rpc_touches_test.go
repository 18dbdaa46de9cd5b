package service

import (
	"encoding/json"
	"strings"
	"testing"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/fault"
)

// What a call acts on is said in numbers, of a change of a VLAN with the ports that it leaves.
func TestWhatACallTouches(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 6, Hosts: -1})
	if _, err := b.call(t, "switch", "vlan-add", `{"switch":"sw1","vlan-id":7,"tagged":["1","2"],"untagged":["3"]}`); err != nil {
		t.Fatal(err)
	}
	entry := func(rest string) string { return `{"node-id":"` + sw1 + `"` + rest + `}` }
	at := func(port string) string { return entry(`,"port":` + port + `,"vlan-id":7`) }
	for _, x := range []struct{ operation, input, want string }{
		{"switch:ports", `{"switch":"SW1"}`, entry("")},
		{"switch:ports", `{"switch":"sw1","port":"port2"}`, entry(`,"port":2`)},
		{"switch:fdb", `{"switch":"sw1","port":"2","vlan-id":9}`, entry(`,"port":2,"vlan-id":9`)},
		{"switch:vlans", `{"vlan-id":7}`, ``},
		{"switch-port:set-port", `{"switch":"` + sw1 + `","port":"port4"}`, entry(`,"port":4`)},
		{"switch:vlan-add", `{"switch":"sw1","vlan-id":7,"tagged":["port1","4-5"]}`, at("1") + "," + at("4") + "," + at("5")},
		{"switch:vlan-add", `{"switch":"sw1","vlan-id":7}`, entry(`,"vlan-id":7`)},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":7,"tagged":["1","2"],"untagged":["3"]}`, at("3")}, // its PVID is set
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":7,"tagged":["1","4"]}`, at("2") + "," + at("3") + "," + at("4")},
		{"switch:vlan-set", `{"switch":"sw1","vlan-id":7,"untagged":["1"],"tagged":["2","3"]}`, at("1") + "," + at("3")},
		{"switch:vlan-del", `{"switch":"sw1","vlan-id":7}`, at("1") + "," + at("2") + "," + at("3")},
		{"switch:vlan-del", `{"switch":"sw1","vlan-id":8}`, entry(`,"vlan-id":8`)},
		{"vlan:get-vlan-table", `{"node-id":` + sw1 + `}`, entry("")},
		{"vlan:set-vlan-ports", `{"node-id":` + sw1 + `,"vlan-id":7,"tagged-port-list":"1,2","untagged-port-list":""}`, at("3")},
		{"vlan:add-vlan", `{"node-id":` + sw1 + `,"vlan-id":7,"vlan-name":"x"}`, entry(`,"vlan-id":7`)},
		{"vlan:delete-vlan", `{"node-id":` + sw1 + `,"vlan-id":7}`, at("1") + "," + at("2") + "," + at("3")},
	} {
		in, err := json.Marshal(map[string]string{"operation": x.operation, "input": x.input})
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.call(t, "switch", "touches", string(in))
		if want := `{"entry":[` + x.want + `]}`; err != nil || got != want {
			t.Errorf("%s %s\n got %s %v\nwant %s", x.operation, x.input, got, err, want)
		}
	}
	for input, want := range map[string]string{
		`{"switch":"sw1","port":["port2","4-5"]}`: `"port":2,"port-name":"port2"},{"node-id":"` + sw1 + `","port":4,`,
		`{"switch":"sw1"}`:                        `{"entry":[{"node-id":"` + sw1 + `"},{"node-id":"` + sw1 + `","port":1,"port-name":"port1"}`,
	} {
		if got, err := b.call(t, "switch", "touches", input); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s %v, want %s", input, got, err, want)
		}
	}
	for input, kind := range map[string]fault.Kind{
		`{"operation":"switch:history","input":"{}"}`: fault.Invalid,
		`{"operation":"switch:ports","input":"{"}`:    fault.Invalid,
		`{"switch":"sw9"}`:                            fault.NotFound,
		`{"switch":"sw1","port":["port9"]}`:           fault.NotFound,
	} {
		if _, err := b.call(t, "switch", "touches", input); fault.KindOf(err) != kind || err == nil {
			t.Errorf("%s: %v", input, err)
		}
	}
}
