package switchdriverpython

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/simline"
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
	simline.RunBinary(t, build(t), map[string]any{"timeout": 5}, 0)
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
