package service

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/fault"
)

// sw1 is 02:00:00:00:00:01 as a number: the first switch of the lab.
const sw1 = "2199023255553"

func TestShapes(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 3, Hosts: 1})
	for _, c := range []struct{ module, rpc, input, want string }{
		{"topology", "get-node-list", "", `{"node-list-entry":[{"node-id":"2199023255553","node-type":"SNMP"},{"node-id":"2199023255554","node-type":"SNMP"}]}`},
		{"topology", "get-edge-list", "", `{"edge-list-entry":[` +
			`{"head-node-connector-id":"1","head-node-connector-type":"SNMP","head-node-id":"2199023255554","head-node-type":"SNMP",` +
			`"tail-node-connector-id":"1","tail-node-connector-type":"SNMP","tail-node-id":"2199023255553","tail-node-type":"SNMP"},` +
			`{"head-node-connector-id":"1","head-node-connector-type":"SNMP","head-node-id":"2199023255553","head-node-type":"SNMP",` +
			`"tail-node-connector-id":"1","tail-node-connector-type":"SNMP","tail-node-id":"2199023255554","tail-node-type":"SNMP"}]}`},
		{"topology", "set-discovery-interval", `{"interval-second":7}`, `{"set-discovery-interval-result":"SUCCESS"}`},
		{"topology", "rediscover", "", `{"rediscover-result":"SUCCESS"}`},
		{"vlan", "add-vlan", `{"node-id":` + sw1 + `,"vlan-id":5,"vlan-name":"five"}`, `{"add-vlan-result":"SUCCESS"}`},
		{"vlan", "set-vlan-ports", `{"node-id":` + sw1 + `,"vlan-id":5,"tagged-port-list":"1, 2","untagged-port-list":" "}`, `{"set-vlan-ports-result":"SUCCESS"}`},
		{"vlan", "add-vlan-and-set-ports", `{"node-id":` + sw1 + `,"vlan-id":6,"vlan-name":"","tagged-port-list":"","untagged-port-list":"3"}`, `{"add-vlan-and-set-ports-result":"SUCCESS"}`},
		{"vlan", "get-vlan-table", `{"node-id":` + sw1 + `}`, `{"vlan-table-entry":[{"vlan-id":1,"vlan-name":"default","port-list":[1,2]},` +
			`{"vlan-id":5,"vlan-name":"five","port-list":[1,2]},{"vlan-id":6,"vlan-name":"","port-list":[3]}]}`},
		{"vlan", "delete-vlan", `{"node-id":` + sw1 + `,"vlan-id":6}`, `{"delete-vlan-result":"SUCCESS"}`},
		{"fdb", "set-fdb-entry", `{"node-id":` + sw1 + `,"vlan-id":5,"dest-mac-addr":158969157063648,"port":2,"type":"MGMT"}`, `{"set-fdb-entry-result":"SUCCESS"}`},
		{"fdb", "get-fdb-entry", `{"node-id":` + sw1 + `,"vlan-id":5,"dest-mac-addr":158969157063648}`,
			`{"node-id":2199023255553,"vlan-id":5,"dest-mac-addr":158969157063648,"port":2,"type":"MGMT"}`},
		{"fdb", "del-fdb-entry", `{"node-id":` + sw1 + `,"vlan-id":5,"dest-mac-addr":158969157063648}`, `{"del-fdb-entry-result":"SUCCESS"}`},
	} {
		got, err := b.call(t, c.module, c.rpc, c.input)
		if err != nil || got != c.want {
			t.Errorf("%s:%s\n got %s %v\nwant %s", c.module, c.rpc, got, err, c.want)
		}
	}
	if got := b.survey.Interval().Seconds(); got != 7 {
		t.Errorf("interval %v s after set-discovery-interval 7", got)
	}
	got, err := b.call(t, "fdb", "get-fdb-table", `{"node-id":`+sw1+`}`)
	if err != nil || !strings.Contains(got, `"vlan-id":1,`) || !strings.Contains(got, `"type":"LEARNED"`) {
		t.Errorf("fdb table %s %v", got, err)
	}
	got, err = b.call(t, "topology", "get-node-connector-list", "")
	if err != nil || strings.Count(got, `{"node-connector-id":`) != 6 {
		t.Errorf("connectors %s %v", got, err)
	}
}

// What is wrong with an input is reported, all of it, with the leaf; nothing is sent.
func TestRefusedInput(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1", Ports: 4})
	const in = `{"node-id":` + sw1 + `,`
	for _, c := range []struct {
		module, rpc, input string
		kind               fault.Kind
		want               []string // parts of the error
	}{
		{"vlan", "add-vlan", `{"node-id":1,"vlan-id":5,"vlan-name":"x"}`, fault.NotFound, []string{"node-id", "there is no switch 1"}},
		{"vlan", "add-vlan", `{"vlan-id":5,"vlan-name":"x"}`, fault.Missing, []string{"node-id"}},
		{"vlan", "add-vlan", `{"node-id":-4,"vlan-id":0,"vlan-name":"123456789012345678901234567890123"}`, fault.Invalid, []string{"node-id", "vlan-id", "vlan-name"}},
		{"vlan", "add-vlan", in + `"vlan-id":4095,"vlan-name":"x"}`, fault.Invalid, []string{"vlan-id"}},
		{"vlan", "add-vlan", in + `"vlan-id":1,"vlan-name":"x"}`, fault.Exists, []string{"/vlan:input/vlan-id", "VLAN 1 exists"}},
		{"vlan", "add-vlan", in + `"vlan-id":9,"vlan-name":"\u00fc"}`, fault.Invalid, []string{"vlan-name", "ASCII"}},
		{"vlan", "delete-vlan", in + `"vlan-id":9}`, fault.NotFound, []string{"VLAN 9"}},
		{"vlan", "delete-vlan", in + `"vlan-id":1}`, fault.Invalid, []string{"default VLAN"}},
		{"vlan", "set-vlan-ports", in + `"vlan-id":1,"tagged-port-list":"1,x,70000","untagged-port-list":"1"}`, fault.Invalid,
			[]string{"/vlan:input/tagged-port-list", `"x"`, `"70000"`, "untagged-port-list", "port 1 is in the tagged list too"}},
		{"vlan", "set-vlan-ports", in + `"vlan-id":1,"tagged-port-list":"5","untagged-port-list":"6"}`, fault.Invalid,
			[]string{"tagged-port-list: switch", "no port 5", "untagged-port-list: switch", "no port 6"}},
		{"vlan", "set-vlan-ports", in + `"vlan-id":1,"tagged-port-list":"5"}`, fault.Missing, []string{"untagged-port-list"}},
		{"fdb", "set-fdb-entry", in + `"vlan-id":1,"dest-mac-addr":1101088686331,"port":1}`, fault.Invalid, []string{"dest-mac-addr", "group address"}},
		{"fdb", "set-fdb-entry", in + `"vlan-id":1,"dest-mac-addr":2,"port":5}`, fault.Invalid, []string{"/fdb:input/port", "not in VLAN 1"}},
		{"fdb", "set-fdb-entry", in + `"vlan-id":8,"dest-mac-addr":2,"port":1}`, fault.NotFound, []string{"VLAN 8"}},
		{"fdb", "set-fdb-entry", in + `"vlan-id":1,"dest-mac-addr":2,"port":1,"type":"LEARNED"}`, fault.Invalid, []string{"/fdb:input/type", "MGMT"}},
		{"fdb", "get-fdb-entry", in + `"vlan-id":1,"dest-mac-addr":2}`, fault.NotFound, []string{"00:00:00:00:00:02"}},
		{"fdb", "del-fdb-entry", in + `"vlan-id":1,"dest-mac-addr":281474976710656}`, fault.Invalid, []string{"dest-mac-addr"}},
		{"topology", "set-discovery-interval", `{"interval-second":-1}`, fault.Invalid, []string{"interval-second"}},
		{"topology", "set-discovery-interval", ``, fault.Missing, []string{"/topology:input"}},
	} {
		_, err := b.call(t, c.module, c.rpc, c.input)
		if !errors.Is(err, &fault.Error{Kind: c.kind}) {
			t.Errorf("%s:%s %s: %v (%v), want %v", c.module, c.rpc, c.input, err, fault.KindOf(err), c.kind)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s:%s %s: the error does not contain %q: %v", c.module, c.rpc, c.input, part, err)
			}
		}
	}
	if n := b.Nodes()[0].Server.Agent().Stats().Sets; n != 0 {
		t.Errorf("%d SETs were sent", n)
	}
}

func TestDeviceFaults(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1"})
	add := func() error {
		_, err := b.call(t, "vlan", "add-vlan", `{"node-id":`+sw1+`,"vlan-id":5,"vlan-name":"x"}`)
		return err
	}
	if err := b.SetFaults("sw1", faults.Set{SetStatus: snmpwire.NoAccess}); err != nil {
		t.Fatal(err)
	}
	if err := add(); !errors.Is(err, &fault.Error{Kind: fault.Downstream}) || !strings.Contains(err.Error(), "noAccess") || !strings.Contains(err.Error(), "1.3.6.1.2.1.17.7.1.4.3.1.") {
		t.Errorf("refused: %v", err)
	}
	if err := b.SetFaults("sw1", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	b.hasten(t)
	err := add()
	if !errors.Is(err, &fault.Error{Kind: fault.Timeout}) || !strings.Contains(err.Error(), "02:00:00:00:00:01") {
		t.Errorf("silent: %v", err)
	}
	if l := fault.All(err); l[0].Source != fault.SourceDevice {
		t.Errorf("the fault is not the device's: %+v", l[0])
	}
	if got, err := b.call(t, "topology", "get-node-list", ""); err != nil || !strings.Contains(got, sw1) {
		t.Errorf("a silent switch is lost: %s %v", got, err)
	}
}

// While a discovery is active a second one is refused; lists are answered all the same.
func TestRediscoverTwice(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1"})
	if err := b.SetFaults("sw1", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	started, done := make(chan struct{}), make(chan error)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() {
		first := true
		_, err := b.survey.Discover(ctx, discovery.All, func(int, int) {
			if first {
				close(started)
			}
			first = false
		})
		done <- err
	}()
	<-started
	if _, err := b.call(t, "topology", "rediscover", ""); !errors.Is(err, &fault.Error{Kind: fault.InUse}) {
		t.Errorf("second discovery: %v", err)
	}
	end() // or it would wait for the silent one
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
