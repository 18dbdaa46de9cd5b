package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
)

// It is a plugin as any other. What its tree does in a real controller is in test/e2e.
func TestPlugin(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "racks")
	if out, err := exec.CommandContext(within(t), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plugintest.Run(t, bin)
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
