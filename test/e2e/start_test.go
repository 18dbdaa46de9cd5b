package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

const (
	admin = "admin:admin"
	user  = "user:user"
)

func TestFirstStartIsProtectedAndServes(t *testing.T) {
	c := start(t, harness.NewHome(t))
	for _, k := range []struct {
		name, method, path, auth string
		want                     int
	}{
		{"nobody", "GET", "/restconf/modules", "", 401},
		{"wrong password", "GET", "/restconf/modules", "admin:wrong", 401},
		{"unknown user", "GET", "/restconf/modules", "eve:admin", 401},
		{"admin", "GET", "/restconf/modules", admin, 200},
		{"user", "GET", "/restconf/modules", user, 200},
		{"users are for admins", "GET", "/auth/v1/users", user, 401},
		{"admin sees the users", "GET", "/auth/v1/users", admin, 200},
		{"nothing there", "GET", "/nowhere", admin, 404},
		{"encoded dots", "GET", "/restconf/%2e%2e/auth/v1/users", user, 400},
	} {
		t.Run(k.name, func(t *testing.T) {
			a := c.Do(k.method, k.path, k.auth, "")
			if a.Status != k.want {
				t.Errorf("%s %s: %d %s, want %d", k.method, k.path, a.Status, a.Body, k.want)
			}
			if k.want == 401 && k.auth != user && !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("no challenge: %v", a.Header)
			}
		})
	}
}

func TestInstalledSetSurvivesARestart(t *testing.T) {
	c := start(t, harness.NewHome(t))
	if a := c.Do("GET", "/repoinfo/git/branches?project=x", admin, ""); a.Status != 404 || strings.Contains(a.Body, "project") {
		t.Fatalf("before install: %d %s", a.Status, a.Body)
	}
	c.Ctl("feature:install ctl-repoinfo")
	check := func(when string) {
		t.Helper()
		if a := c.Do("GET", "/repoinfo/git/branches", admin, ""); a.Status != 400 || !strings.Contains(a.Body, "project") {
			t.Fatalf("%s: %d %s", when, a.Status, a.Body)
		}
		if a := c.Do("GET", "/repoinfo/git/branches", "", ""); a.Status != 401 {
			t.Fatalf("%s: open to everyone: %d", when, a.Status)
		}
	}
	check("after install")
	c.Restart()
	check("after the restart")
	c.Ctl("feature:uninstall ctl-repoinfo")
	if a := c.Do("GET", "/repoinfo/git/branches", admin, ""); a.Status != 404 {
		t.Fatalf("after uninstall: %d %s", a.Status, a.Body)
	}
	if out := c.Ctl("plugin:list"); strings.Contains(out, "repoinfo") {
		t.Errorf("the plugin still runs:\n%s", out)
	}
}

func TestWhatIsNotThereRefusesToInstall(t *testing.T) {
	c := start(t, harness.NewHome(t))
	for line, want := range map[string]string{
		"feature:install ctl-switch-al":  "ctl-switch-all", // nearest name
		"feature:uninstall ctl-repoinfo": "not installed",
	} {
		if out, err := c.TryCtl(line); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, %q does not say %q", line, err, out, want)
		}
	}
}

func TestAFileThatWasChangedIsNotRun(t *testing.T) {
	c := start(t, harness.NewHome(t))
	plugin := filepath.Join(c.Home, "plugins", "greeter")
	if err := os.WriteFile(plugin, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	feature := "name: local\nfeatures:\n- name: greeter\n  version: 1.0.0\n  description: says hello\n  plugins: [{name: greeter, sha256: " + strings.Repeat("0", 64) + "}]\n"
	repo := filepath.Join(c.Home, "local.yaml")
	if err := os.WriteFile(repo, []byte(feature), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:repo-add --unsigned " + repo)
	if out, err := c.TryCtl("feature:install greeter"); err == nil || !strings.Contains(out, "sha256") {
		t.Errorf("%v: %s", err, out)
	}
	if a := c.Do("GET", "/restconf/modules", admin, ""); a.Status != http.StatusOK {
		t.Errorf("the controller suffered: %d", a.Status)
	}
}

func TestBadSettingsAreNamedAndRefused(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Stop()
	file := filepath.Join(c.Home, "etc", "ctl.yaml")
	if err := os.WriteFile(file, []byte("listeners:\n  htpp: off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := harness.Refused(t, harness.Options{Bin: bin, Home: c.Home})
	if code != 3 || !strings.Contains(out, "ctl.yaml:2") || !strings.Contains(out, "http") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Whatever read the output of ctld may end before it.
func TestOutputThatNobodyReads(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Stop()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	none := []string{"--home", c.Home, "--http", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--admin", "127.0.0.1:0"}
	cmd := exec.CommandContext(within(t), filepath.Join(bin, "ctld"), none...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Kill()
	}()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(2 * time.Minute); ; {
		if _, err := c.TryCtl("system:version"); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		case <-deadline:
			t.Fatal("it does not answer")
		case <-again.C:
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// What could not be kept is said by words and by the exit code.
func TestADisorderlyEndIsTold(t *testing.T) {
	c := start(t, harness.NewHome(t))
	if err := os.Rename(filepath.Join(c.Home, "data", "store"), filepath.Join(c.Home, "data", "away")); err != nil {
		t.Fatal(err)
	}
	if code := c.Stop(); code != 1 || !strings.Contains(c.Said(), filepath.Join(c.Home, "data", "store")) {
		t.Errorf("exit code %d: %s", code, c.Said())
	}
}
