package main

import (
	"strings"
	"testing"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/simline"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

// start is a simulated switch, and the plugin as the controller runs it.
func start(t *testing.T) (*simline.Switch, conformance.Peer) {
	sim, err := simline.Start(simline.Options{Ports: 4, Password: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	at := func(host string, port uint16) *switchdriver.Switch {
		return &switchdriver.Switch{NodeId: 1, Address: host, Model: "switchdriver-go",
			Cli: &pluginv1.CliAccess{Port: uint32(port), User: "lab", Password: "sesame"}}
	}
	return sim, conformance.Peer{
		Conn:   plugintest.Start(t, options(), plugintest.WithConfig(map[string]any{"timeout": "5s"})).Conn,
		Switch: at("127.0.0.1", uint16(sim.Port())), At: at, Ports: []uint32{1, 2, 3, 4}, Sent: sim.Sent,
	}
}

// TestDriver holds the driver to the contract of its capability.
func TestDriver(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		_, p := start(t)
		return p
	})
}

// A change that the switch refuses in the middle is taken back.
func TestChangesAreWhole(t *testing.T) {
	sim, p := start(t)
	c := switchdriver.NewClient(p.Conn)
	sim.Misbehave("set vlan 10 ", "") // VLAN 1, which a port leaves, comes first
	v := &switchdriver.VLAN{VlanId: 10, EgressPorts: []uint32{1}, UntaggedPorts: []uint32{1}}
	_, err := c.WriteVLAN(t.Context(), p.Switch, v, true, true)
	if fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "refused today") {
		t.Errorf("got %v", err)
	}
	all, err := c.ReadVLANs(t.Context(), p.Switch)
	if err != nil || len(all) != 1 || len(all[0].GetUntaggedPorts()) != 4 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}
