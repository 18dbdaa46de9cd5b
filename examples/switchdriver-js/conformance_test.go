package switchdriverjs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/simline"
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
	simline.RunBinary(t, program(t), map[string]any{"timeout": 5}, 0)
}
