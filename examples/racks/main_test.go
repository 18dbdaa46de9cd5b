package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"ctl.internal/sdk/plugintest"
)

// It is a plugin as any other. What its tree does in a real controller is in test/e2e.
func TestPlugin(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "racks")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plugintest.Run(t, bin)
}
