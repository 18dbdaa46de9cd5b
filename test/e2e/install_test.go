package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	build := "build:\n\t@touch built; mkdir -p bin/plugins bin/sdk; sha256sum bin/ctl-plugins | sed s,bin/ctl-plugins,repoinfo, >bin/plugins/SHA256SUMS\n" +
		"docs:\n\t@mkdir -p bin/docs; touch bin/docs/index.html; bin/ctl man bin/man; touch bin/man/ctld.8 bin/man/ctl-lab-routers.1 bin/man/idmtool.1\n"
	if err := os.WriteFile(filepath.Join(tree, "Makefile"), []byte(build), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ctld", "ctl", "idmtool", "ctl-lab", "ctl-plugins"} {
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
		// With the closed umask that some give to root.
		cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", `umask 077; exec "$@"`, "-", filepath.Join(tree, "install.sh")}, args...)...)
		cmd.Dir = top
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

func TestInstallAndUninstall(t *testing.T) {
	top, run := installer(t)
	prefix := filepath.Join(top, "my ctl")
	for _, what := range []string{"install", "upgrade"} {
		if out, err := run("--prefix", "my ctl"); err != nil || !strings.Contains(out, `start it with: `) || !strings.Contains(out, "my\\ ctl/bin/ctld\n") {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
	}
	c := exec.CommandContext(within(t), filepath.Join(prefix, "bin", "ctl"), "version")
	if out, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ctl ") {
		t.Errorf("ctl version: %v %s", err, out)
	}
	c = exec.CommandContext(within(t), filepath.Join(prefix, "bin", "ctl"), "doctor")
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CTL_HOME=") }), "LC_ALL=C")
	if out, _ := c.CombinedOutput(); !strings.HasPrefix(string(out), "home "+filepath.Join(prefix, "var", "ctl")) {
		t.Errorf("the installed ctl looks elsewhere: %s", out)
	}
	if _, err := os.Stat(filepath.Join(prefix, "lib", "ctl", "plugins", "repoinfo")); err != nil {
		t.Error(err)
	}
	for _, file := range []string{"lib/ctl/docs/index.html", "share/man/man1/ctl.1", "share/man/man1/ctl-apply.1", "share/man/man8/ctld.8", "share/man/man1/ctl-lab-routers.1", "bin/ctl-lab",
		"share/bash-completion/completions/ctl",
		"share/zsh/site-functions/_ctl", "share/fish/vendor_completions.d/ctl.fish"} {
		if _, err := os.Stat(filepath.Join(prefix, file)); err != nil {
			t.Error(err)
		}
	}
	if out, err := run("--uninstall", "--prefix", prefix); err != nil || !strings.Contains(out, "was kept") {
		t.Errorf("uninstall: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(prefix); err != nil || len(left) != 1 || left[0].Name() != "var" {
		t.Errorf("not removed: %v %v", left, err)
	}
	if out, err := run("--uninstall", "--purge", "--prefix", prefix); err != nil {
		t.Errorf("purge: %v\n%s", err, out)
	}
	if _, err := os.Stat(prefix); !os.IsNotExist(err) {
		t.Errorf("the prefix is still there: %v", err)
	}
}

// Whatever umask root has, the user of the service can run what was installed; and
// nothing of a home on another disk is left by --purge.
func TestInstallWithAClosedUmaskAndALinkedHome(t *testing.T) {
	top, run := installer(t)
	prefix, disk := filepath.Join(top, "p"), filepath.Join(top, "disk")
	for _, dir := range []string{filepath.Join(prefix, "var"), disk} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(disk, filepath.Join(prefix, "var", "ctl")); err != nil {
		t.Fatal(err)
	}
	if out, err := run("--prefix", prefix); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, path := range []string{"bin", "lib/ctl", "lib/ctl/ctld", "lib/ctl/plugins", "lib/ctl/plugins/repoinfo"} {
		if info, err := os.Stat(filepath.Join(prefix, path)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v %v, want 0755", path, info.Mode(), err)
		}
	}
	if out, err := run("--uninstall", "--purge", "--prefix", prefix); err != nil {
		t.Errorf("purge: %v\n%s", err, out)
	}
	if _, err := os.Stat(disk); !os.IsNotExist(err) {
		t.Errorf("the home of the link is still there: %v", err)
	}
}

// A home is not taken away from under a running controller.
func TestUninstallRefusesWhileAControllerRuns(t *testing.T) {
	top, run := installer(t)
	prefix := filepath.Join(top, "p")
	if out, err := run("--prefix", prefix); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	home := filepath.Join(prefix, "var", "ctl")
	c := harness.Run(t, harness.Options{Bin: bin, Home: home})
	out, err := run("--uninstall", "--purge", "--prefix", prefix)
	if err == nil || !strings.Contains(out, "runs in "+home+": stop it first") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(prefix, "bin", "ctl")); err != nil {
		t.Error(err)
	}
	c.Stop()
	if out, err := run("--uninstall", "--purge", "--prefix", prefix); err != nil {
		t.Errorf("stopped: %v\n%s", err, out)
	}
}

// What stands in the way is reported before minutes of building.
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

// An upgrade saves what the home holds before it replaces anything, whether a controller
// runs or not, and keeps the newest three.
func TestAnUpgradeTakesASnapshot(t *testing.T) {
	top, run := installer(t)
	home := filepath.Join(top, "ctl", "var", "ctl")
	upgrade := func(wants int, args ...string) {
		t.Helper()
		if out, err := run(append([]string{"--prefix", "ctl"}, args...)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		taken, err := filepath.Glob(filepath.Join(home, "backups", "before-upgrade-*.tar"))
		if err != nil || len(taken) != wants {
			t.Fatalf("%d snapshots, want %d", len(taken), wants)
		}
	}
	upgrade(0)
	c := start(t, home)
	upgrade(1)
	c.Stop()
	upgrade(1, "--no-snapshot")
	for i := range 3 {
		old := filepath.Join(home, "backups", "before-upgrade-2000010"+string(rune('1'+i))+"-000000.tar")
		if err := os.WriteFile(old, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	upgrade(3)
	c.Launch()
	if a := c.Do("GET", "/restconf/modules", admin, ""); a.Status != 200 {
		t.Errorf("after the upgrades: %d", a.Status)
	}
}

// within bounds a process of the test.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
