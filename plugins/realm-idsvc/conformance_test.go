package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"ctl.internal/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "realm-idsvc")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	plugintest.Run(t, bin)
}
