package switchdriverjs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/simline"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

// program makes an executable of driver.js, or skips the test, loudly, where its modules are not installed.
func program(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "node", "-e", "require('@grpc/grpc-js'); require('@grpc/proto-loader'); require('child_process').execFileSync('openssl', ['version'])")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer node with @grpc/grpc-js and @grpc/proto-loader (NODE_PATH), and openssl, for the driver in JavaScript: %v %.200s", err, out)
	}
	bin := filepath.Join(t.TempDir(), "switchdriver-js")
	script := fmt.Sprintf("#!/bin/sh\nexport NODE_PATH='%s'\nexec node '%s' \"$@\"\n", os.Getenv("NODE_PATH"), filepath.Join(dir, "driver.js"))
	if err := os.WriteFile(bin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

// It is a plugin as any other.
func TestPlugin(t *testing.T) {
	t.Parallel()
	plugintest.Run(t, program(t))
}

// It is a driver as any other.
func TestDriver(t *testing.T) {
	t.Parallel()
	bin := program(t)
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		sim, err := simline.Start(simline.Options{Ports: 4, Password: "sesame"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		at := func(host string, port uint16) *switchdriver.Switch {
			return &switchdriver.Switch{NodeId: 1, Address: host, Model: "switchdriver-js",
				Cli: &pluginv1.CliAccess{Port: uint32(port), User: "lab", Password: "sesame"}}
		}
		return conformance.Peer{
			Conn:   plugintest.StartBinary(t, bin, plugintest.WithConfig(map[string]any{"timeout": 5})).Conn,
			Switch: at("127.0.0.1", uint16(sim.Port())), At: at, Ports: []uint32{1, 2, 3, 4}, Sent: sim.Sent, Fake: sim,
		}
	})
}
