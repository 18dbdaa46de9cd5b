package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	admin = "admin:admin"
	user  = "user:user"
)

func TestFirstStartIsProtectedAndServes(t *testing.T) {
	c := start(t, homeDir(t))
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
			a := c.do(k.method, k.path, k.auth, "")
			if a.status != k.want {
				t.Errorf("%s %s: %d %s, want %d", k.method, k.path, a.status, a.body, k.want)
			}
			if k.want == 401 && k.auth != user && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("no challenge: %v", a.header)
			}
		})
	}
}

func TestInstalledSetSurvivesARestart(t *testing.T) {
	c := start(t, homeDir(t))
	if a := c.do("GET", "/repoinfo/git/branches?project=x", admin, ""); a.status != 404 || strings.Contains(a.body, "project") {
		t.Fatalf("before install: %d %s", a.status, a.body)
	}
	c.ctl("feature:install ctl-repoinfo")
	check := func(when string) {
		t.Helper()
		if a := c.do("GET", "/repoinfo/git/branches", admin, ""); a.status != 400 || !strings.Contains(a.body, "project") {
			t.Fatalf("%s: %d %s", when, a.status, a.body)
		}
		if a := c.do("GET", "/repoinfo/git/branches", "", ""); a.status != 401 {
			t.Fatalf("%s: open to everyone: %d", when, a.status)
		}
	}
	check("after install")
	c.restart()
	check("after the restart")
	c.ctl("feature:uninstall ctl-repoinfo")
	if a := c.do("GET", "/repoinfo/git/branches", admin, ""); a.status != 404 {
		t.Fatalf("after uninstall: %d %s", a.status, a.body)
	}
	if out := c.ctl("plugin:list"); strings.Contains(out, "repoinfo") {
		t.Errorf("the plugin still runs:\n%s", out)
	}
}

func TestWhatIsNotThereRefusesToInstall(t *testing.T) {
	c := start(t, homeDir(t))
	for line, want := range map[string]string{
		"feature:install ctl-switch-al":  "ctl-switch-all", // nearest name
		"feature:uninstall ctl-repoinfo": "not installed",
	} {
		if out, err := c.tryCtl(line); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, %q does not say %q", line, err, out, want)
		}
	}
}

func TestAFileThatWasChangedIsNotRun(t *testing.T) {
	c := start(t, homeDir(t))
	plugin := filepath.Join(c.home, "plugins", "greeter")
	if err := os.WriteFile(plugin, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	feature := "name: local\nfeatures:\n- name: greeter\n  version: 1.0.0\n  description: says hello\n  plugins: [{name: greeter, sha256: " + strings.Repeat("0", 64) + "}]\n"
	repo := filepath.Join(c.home, "local.yaml")
	if err := os.WriteFile(repo, []byte(feature), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ctl("feature:repo-add " + repo)
	if out, err := c.tryCtl("feature:install greeter"); err == nil || !strings.Contains(out, "sha256") {
		t.Errorf("%v: %s", err, out)
	}
	if a := c.do("GET", "/restconf/modules", admin, ""); a.status != http.StatusOK {
		t.Errorf("the controller suffered: %d", a.status)
	}
}

func TestBadSettingsAreNamedAndRefused(t *testing.T) {
	c := start(t, homeDir(t))
	c.stop()
	file := filepath.Join(c.home, "etc", "ctl.yaml")
	if err := os.WriteFile(file, []byte("listeners:\n  htpp: off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd
	out, code := ctld(t, "--home", c.home)
	if code != 3 || !strings.Contains(out, "ctl.yaml:2") || !strings.Contains(out, "http") {
		t.Errorf("exit %d: %s", code, out)
	}
}
