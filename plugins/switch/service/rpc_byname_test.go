package service

import (
	"strings"
	"testing"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// Switches and ports by their names: what is typed all day, over RPC.
func TestByNames(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 4, Hosts: 1, FDB: 40})
	for _, c := range []struct{ rpc, input, want string }{
		{"ports", `{"switch":"sw1","port":"port1"}`, `"switch":"sw1","answering":true,`},
		{"ports", `{"switch":"SW1","port":"1"}`, `"entry":[{"port":"port1","number":1,`},
		{"ports", `{"switch":"` + sw1 + `"}`, `"admin-state":"up","state":"up","speed-kbps":1000000,"pvid":1,"untagged-vlan":[1],"stp-state":"FORWARDING","neighbor":["sw2 port1"]}`},
		{"find-address", `{"address":"10.0.0.3"}`, `"port":"port4","number":4,"vlan-id":1,"mac-address":"0a:00:00:00:00:03","ip-address":"10.0.0.3","how":"edge"`},
		{"find-address", `{"address":"0a:00:00:00:00:00"}`, `"switch":"sw1","port":"port1","number":1,"vlan-id":1,"mac-address":"0a:00:00:00:00:00","how":"link"`},
		{"vlan-add", `{"switch":"sw1","vlan-id":7,"vlan-name":"lab","tagged":["port1","2"],"untagged":["3-4"]}`, `{"result":"SUCCESS"}`},
		{"vlans", `{"switch":"sw1","vlan-id":7}`, `{"entry":[{"node-id":"` + sw1 + `","switch":"sw1","vlan-id":7,"vlan-name":"lab","dynamic":false,"tagged-port":["port1","port2"],"untagged-port":["port3","port4"]}]}`},
		{"vlan-set", `{"switch":"sw1","vlan-id":7,"tagged":["port1"]}`, `{"result":"SUCCESS"}`},
		{"vlans", `{"vlan-id":7}`, `"tagged-port":["port1"],"untagged-port":[]}],"mismatch":[{"vlan-id":7,"kind":"one-end",`},
		{"vlan-mismatches", "", `"entry":[{"vlan-id":7,"kind":"one-end","node-id":"` + sw1 + `","switch":"sw1","port":"port1","peer-node-id":"2199023255554","peer":"sw2","peer-port":"port1",`},
		{"vlan-mismatches", `{"vlan-id":1}`, `{"entry":[]}`},
		{"vlans", `{"vlan-id":1}`, `"link":[{"node-id":"` + sw1 + `","port":"port1","peer-node-id":"2199023255554","peer-port":"port1"}]`},
		{"search", `{"text":"SW2"}`, `"switch":"sw2","kind":"switch","match":"name","value":"sw2"}`},
		{"search", `{"text":"port1"}`, `"port":"port1","number":1,"kind":"port","match":"name","value":"port1"}`},
		{"search", `{"text":"02-00-00"}`, `"kind":"switch","match":"mac-address"`},
		{"search", `{"text":"10.99.0.1"}`, `"kind":"neighbor","match":"address"`},
		{"search", `{"text":"nothing has this"}`, `{"entry":[]}`},
		{"vlan-del", `{"switch":"sw1","vlan-id":7}`, `{"result":"SUCCESS"}`},
		{"vlans", `{"vlan-id":7}`, `{"entry":[]}`},
		{"stp", `{"switch":"sw1"}`, `{"port":"port1","number":1,"enabled":true,"state":"FORWARDING","root":"32768 02:00:00:00:00:01"}`},
		{"fdb", `{"switch":"sw1","mac-address":"0a:00:00:00:00:00"}`, `{"entry":[{"vlan-id":1,"mac-address":"0a:00:00:00:00:00","port":"port1","number":1,"type":"LEARNED"}]}`},
		{"fdb", `{"switch":"sw1","limit":1}`, `"next-cursor":"q1.`},
		{"arp", `{"switch":"sw1","mac-address":"0a:00:00:00:00:05"}`, `{"entry":[{"ip-address":"10.0.0.5","mac-address":"0a:00:00:00:00:05","if-index":5121,"type":"dynamic"}]}`},
		{"neighbors", `{"switch":"sw2"}`, `"port":"port1","neighbor":"sw1","neighbor-port":"port1","address":["10.99.0.1"],"protocol":"lldp","placed":true}]}`},
		{"find-address", `{"address":"sw2"}`, `"entry":[{"node-id":"2199023255554","switch":"sw2",`},
		{"find-address", `{"address":"0a:00:00:00:77:00"}`, `{"mac-address":["0a:00:00:00:77:00"],"entry":[]}`},
		{"counters", `{"switch":"sw1","port":"port1"}`, `"speed-kbps":1000000,"in-bps":`},
		{"history", `{}`, `{"entry":[]}`},
		{"edges", "", `"confirmed":true,"name":"sw1","node":"` + sw1 + `","peer":"2199023255554","peer-name":"sw2","peer-port":"1","port":"1","source":"lldp"}]}`},
		{"switches", "", `"stored":true,`},
		{"switches", "", `"switches":2,`},
		{"neighbors", `{"switch":"sw2"}`, `{"entry":[{"node-id":"2199023255554","switch":"sw2","answering":true,"observed":"20`},
		{"switches", "", `{"node-id":"` + sw1 + `","switch":"sw1","answering":true,"observed":"20`},
		{"switches", "", `"mac-address":"02:00:00:00:00:01",`},
		{"switches", "", `"snmp-version":"2c","model":"generic","driver":["standard-mib"],"state":"answered `},
		{"drivers", "", `"driver":"standard-mib",`},
		{"changes", "", `{"entry":[]}`},
	} {
		got, err := b.call(t, "switch", c.rpc, c.input)
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("switch:%s %s\n got %s %v\nwant %s", c.rpc, c.input, got, err, c.want)
		}
	}
	for _, c := range []struct {
		rpc, input string
		kind       fault.Kind
		want       string
	}{
		{"ports", `{"switch":"sw9"}`, fault.NotFound, "sw9"},
		{"ports", `{"switch":"sw1","port":"port9"}`, fault.NotFound, `no port "port9"`},
		{"vlan-add", `{"switch":"sw1","vlan-id":8,"tagged":["nope","port1"],"untagged":["port1","9-7"]}`, fault.NotFound, `"nope"`},
		{"vlan-add", `{"switch":"sw1","vlan-id":8,"tagged":["1"],"untagged":["port1"]}`, fault.Invalid, "port port1 is in the tagged list too"},
		{"fdb", `{"switch":"sw1","mac-address":"zz"}`, fault.Invalid, "zz"},
		{"find-address", `{"address":"nobody"}`, fault.NotFound, "nobody"},
		{"history", `{"since":"yesterday"}`, fault.Invalid, "RFC 3339"},
		{"acls", `{"switch":"sw1"}`, fault.Unsupported, "has the operation ReadAcl"},
	} {
		_, err := b.call(t, "switch", c.rpc, c.input)
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("switch:%s %s: %v, want %v with %s", c.rpc, c.input, err, c.kind, c.want)
		}
	}
}

// A switch with a table that is cut is partial, wherever it is shown.
func TestPartialSwitch(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1", Ports: 4, FDB: 10})
	err := b.SetFaults("sw1", faults.Set{Loop: true, Within: []snmpwire.OID{snmpwire.MustOID("1.3.6.1.2.1.2.2.1.7"), snmpwire.MustOID("1.3.6.1.2.1.17.7.1.2.2.1.2")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.survey.Discover(t.Context(), discovery.All, nil); err != nil {
		t.Fatal(err)
	}
	if got := b.switchState(b.inventory.Entries()[0]); !strings.HasPrefix(got, "partial: ifTable; answered") {
		t.Errorf("switch:PrintDB shows %q", got)
	}
	if a := Topology("switch:1", b.survey.Network()).Nodes[sw1].Attributes; a["partial"] != "ifTable" {
		t.Errorf("the topology has %v", a)
	}
	for rpc, want := range map[string]string{"switch:ports": `"partial":["ifTable: `, "switch:fdb": `"partial":["dot1qTpFdbTable: `} {
		module, name, _ := strings.Cut(rpc, ":")
		if got, err := b.call(t, module, name, `{"switch":"sw1"}`); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s %v", rpc, got, err)
		}
	}
	if got, err := b.call(t, "fdb", "get-fdb-table", `{"node-id":`+sw1+`}`); err != nil || !strings.Contains(got, `"partial":["dot1qTpFdbTable: `) {
		t.Errorf("fdb:get-fdb-table: %s %v", got, err)
	}
	o := b.survey.Observation(b.inventory.Entries()[0].MAC)
	packed := state.Packed(shortenRecord)
	text, err := packed.Encode("", observed{Observation: o})
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := packed.Decode("", text); err != nil || len(kept.Observation.Cut) != 1 {
		t.Errorf("what is kept in the datastore has %+v, %v", kept.Observation, err)
	}
}
