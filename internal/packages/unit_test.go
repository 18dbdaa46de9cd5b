package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// The unit of the packages is that of install.sh, too, which changes nothing but directories in it.
func TestSystemdTakesTheUnit(t *testing.T) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer systemd-analyze is not installed (Debian package systemd)")
	}
	text, err := os.ReadFile("ctld.service")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ctld.service")
	if err := os.WriteFile(file, regexp.MustCompile(`/usr/lib/ctl/ctld`).ReplaceAll(text, []byte("/bin/true")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "verify", "--man=no", file).CombinedOutput()
	if err != nil || regexp.MustCompile(`ctld\.service:\d+|(?m)^ctld\.service:`).Match(out) { // it also says what is wrong with other units
		t.Errorf("%v\n%s", err, out)
	}
}
