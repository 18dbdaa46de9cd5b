package main

import (
	"testing"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/simline"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

// start starts the plugin like the controller does, and a simulated switch.
func start(t *testing.T) conformance.Peer {
	sim, err := simline.Start(simline.Options{Ports: 4, Password: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	at := func(host string, port uint16) *switchdriver.Switch {
		return &switchdriver.Switch{NodeId: 1, Address: host, Model: "switchdriver-go",
			Cli: &pluginv1.CliAccess{Port: uint32(port), User: "lab", Password: "sesame"}}
	}
	return conformance.Peer{
		Conn:   plugintest.Start(t, options(), plugintest.WithConfig(map[string]any{"timeout": "5s"})).Conn,
		Switch: at("127.0.0.1", uint16(sim.Port())), At: at, Ports: []uint32{1, 2, 3, 4}, Sent: sim.Sent, Fake: sim,
	}
}

// TestDriver tests the driver against the contract of its capability, also with a switch that refuses, returns wrong
// data, answers late, disconnects or does not answer.
func TestDriver(t *testing.T) {
	conformance.Run(t, start)
}
