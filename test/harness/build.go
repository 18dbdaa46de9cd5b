package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
)

// Build builds ctld, ctl, idmtool and ctl-lab into dir, the controller's plugins and those
// of the packages given into plugins below it, and copies the catalogue; root is the tree.
func Build(root, dir string, plugins ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // with an empty cache, on a busy machine
	defer cancel()
	for target, packages := range map[string][]string{
		dir + "/":         {"./host/ctld", "./host/ctl", "./host/idmtool", "./internal/lab/ctl-lab", "./host/ctl-plugins"},
		dir + "/plugins/": plugins,
	} {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return "", err
		}
		if len(packages) == 0 {
			continue
		}
		cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", target}, packages...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as `make build` does
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	if out, err := exec.CommandContext(
		ctx,
		filepath.Join(dir, "ctl-plugins"),
		"link",
		filepath.Join(dir, "plugins"),
	).CombinedOutput(); err != nil {
		return string(out), err
	}
	catalogue, err := os.ReadFile(filepath.Join(root, "features.yaml"))
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(filepath.Join(dir, "features.yaml"), catalogue, 0o600)
}

// Main builds the programs once, notes in bin where, runs the tests of a package
// and returns its exit code.
func Main(m *testing.M, root string, bin *string, plugins ...string) int {
	dir, done, err := reserve.OpenDir("ctl-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer done()
	*bin = dir
	if out, err := Build(root, dir, plugins...); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
