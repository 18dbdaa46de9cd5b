package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
)

// TestConformance tests the built plugin with the calls of the controller; ctl plugin check
// does the same.
func TestConformance(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "switchdriver-go")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plugintest.Run(t, bin)
}
