package architecture

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// When the build or lint fails, .ci/run ends the installation of the peers and waits for its end, so that nothing of it runs
// after the script.
func TestAFailedRunLeavesNoInstallation(t *testing.T) {
	const install = `#!/usr/bin/env bash
trap 'sleep 0.2; echo ended >>installation; exit 143' TERM
echo begun >>installation
for i in {1..3000}; do sleep 0.1; done
`
	const fakeMake = `#!/usr/bin/env bash
until [[ -s installation ]]; do sleep 0.1; done
[[ $1 != "$FAILS" ]]
`
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, fails := range []string{"build", "lint"} {
		dir := t.TempDir()
		for name, text := range map[string]string{".ci/run": string(script), "test/peers/install.sh": install, "fake/make": fakeMake} {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(dir, ".ci/run"))
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "fake")+":"+os.Getenv("PATH"), "FAILS="+fails, "TMPDIR="+t.TempDir())
		out, err := cmd.Output()
		did, _ := os.ReadFile(filepath.Join(dir, "installation"))
		if err == nil || !strings.Contains(string(out), "== "+fails) || string(did) != "begun\nended\n" {
			t.Errorf("%s fails: %v\n%s\nthe installation: %q", fails, err, out, did)
		}
	}
}
