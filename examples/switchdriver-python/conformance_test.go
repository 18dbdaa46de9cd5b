package switchdriverpython

import (
	"context"
	"errors"
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

// build makes the executable, or skips the test, loudly, where that cannot be done.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "switchdriver-python")
	out, err := exec.CommandContext(within(t), "./build.sh", bin).CombinedOutput()
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == 3 {
		t.Skipf("SKIPPED, NOT TESTED: the peer python3 with grpc, for the driver in Python: %s (test/peers/install.sh installs it as root)", out)
	}
	if err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	return bin
}

// It is a plugin as any other.
func TestPlugin(t *testing.T) {
	t.Parallel()
	plugintest.Run(t, build(t))
}

// It is a driver as any other.
func TestDriver(t *testing.T) {
	t.Parallel()
	bin := build(t)
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		sim, err := simline.Start(simline.Options{Ports: 4, Password: "sesame"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		at := func(host string, port uint16) *switchdriver.Switch {
			return &switchdriver.Switch{NodeId: 1, Address: host, Model: "switchdriver-python",
				Cli: &pluginv1.CliAccess{Port: uint32(port), User: "lab", Password: "sesame"}}
		}
		return conformance.Peer{
			Conn:   plugintest.StartBinary(t, bin, plugintest.WithConfig(map[string]any{"timeout": 5})).Conn,
			Switch: at("127.0.0.1", uint16(sim.Port())), At: at, Ports: []uint32{1, 2, 3, 4}, Sent: sim.Sent, Fake: sim,
		}
	})
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
