package simline

import (
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

// RunBinary checks the driver in an executable, which may be in any language, with the
// simulated switch of this package and package conformance, under settings of the driver.
// deadline is that of one call, longer than any of the driver's own; 30 s when zero.
func RunBinary(t *testing.T, bin string, settings map[string]any, deadline time.Duration) {
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		sim, err := Start(Options{Ports: 4, Password: "sesame"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		at := func(host string, port uint16) *switchdriver.Switch {
			return &switchdriver.Switch{NodeId: 1, Address: host, Cli: &pluginv1.CliAccess{Port: uint32(port), User: "lab", Password: "sesame"}}
		}
		return conformance.Peer{Conn: plugintest.StartBinary(t, bin, plugintest.WithConfig(settings)).Conn, Deadline: deadline,
			Switch: at("127.0.0.1", uint16(sim.Port())), At: at, Ports: []uint32{1, 2, 3, 4}, Sent: sim.Sent, Fake: sim}
	})
}
