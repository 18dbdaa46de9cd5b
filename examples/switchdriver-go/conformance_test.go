package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"ctl.internal/sdk/plugintest"
)

// TestConformance tests the built plugin with the calls of the controller; ctl plugin check
// does the same.
func TestConformance(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "switchdriver-go")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plugintest.Run(t, bin)
}
