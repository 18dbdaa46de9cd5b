package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// installer is install.sh in a tree whose build is done already.
func installer(t *testing.T) (top string, run func(args ...string) (string, error)) {
	t.Helper()
	top = filepath.Join(filepath.Dir(harness.NewHome(t)), "a place with blanks")
	tree := filepath.Join(top, "tree")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"install.sh", "go.mod"} {
		b, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build := "build:\n\t@touch built; cd bin/plugins && sha256sum repoinfo >SHA256SUMS\n"
	if err := os.WriteFile(filepath.Join(tree, "Makefile"), []byte(build), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ctld", "ctl", "idmtool", "plugins/repoinfo"} {
		link := filepath.Join(tree, "bin", name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(bin, name), link); err != nil {
			t.Fatal(err)
		}
	}
	return top, func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(tree, "install.sh"), args...)
		cmd.Dir = top
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

func TestInstallAndUninstall(t *testing.T) {
	top, run := installer(t)
	prefix := filepath.Join(top, "my ctl")
	for _, what := range []string{"install", "upgrade"} {
		if out, err := run("--prefix", "my ctl"); err != nil || !strings.Contains(out, `my\ ctl/bin/ctld --home `) {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
	}
	c := exec.Command(filepath.Join(prefix, "bin", "ctl"), "version")
	if out, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ctl ") {
		t.Errorf("ctl version: %v %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(prefix, "lib", "ctl", "plugins", "repoinfo")); err != nil {
		t.Error(err)
	}
	if out, err := run("--uninstall", "--prefix", prefix); err != nil || !strings.Contains(out, "was kept") {
		t.Errorf("uninstall: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(prefix); err != nil || len(left) != 1 || left[0].Name() != "var" {
		t.Errorf("left behind: %v %v", left, err)
	}
	if out, err := run("--uninstall", "--purge", "--prefix", prefix); err != nil {
		t.Errorf("purge: %v\n%s", err, out)
	}
	if _, err := os.Stat(prefix); !os.IsNotExist(err) {
		t.Errorf("the prefix is still there: %v", err)
	}
}

// What stands in the way is told before minutes of building.
func TestInstallLooksBeforeItBuilds(t *testing.T) {
	top, run := installer(t)
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run("--prefix", file)
	if err == nil || !strings.Contains(out, "cannot write to "+file) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(top, "tree", "built")); err == nil {
		t.Error("it was built all the same")
	}
}
