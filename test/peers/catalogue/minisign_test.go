//go:build peers

// Package catalogue adds catalogues that the program minisign has signed.
package catalogue

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, "../../..", &bin, "ctl.internal/sdk/plugintest/faulty"))
}

// An author signs with minisign, an operator trusts the key once, and what was changed since is refused by name.
func TestCatalogueSignedByMinisign(t *testing.T) {
	minisign, err := exec.LookPath("minisign")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer minisign is not installed (test/peers/install.sh)")
	}
	c := harness.Run(t, harness.Options{Bin: bin})
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, minisign, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("minisign %v: %v\n%s", args, err, out)
		}
	}
	own := filepath.Join(bin, "plugins", "faulty")
	program := mustRead(t, own)
	file := filepath.Join(dir, "acme.yaml")
	catalogue := func(serial int) {
		t.Helper()
		text := fmt.Sprintf("name: acme\nserial: %d\nfeatures:\n- name: faulty\n  version: 1.0.0\n  depends: [ctl-restconf]\n"+
			"  plugins: [{name: faulty, sha256: %x}]\n  facets: [{facet: rest, plugin: faulty}]\n", serial, sha256.Sum256([]byte(program)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(line, want string) {
		t.Helper()
		if out, err := c.TryCtl(line); err == nil || !strings.Contains(out+err.Error(), want) {
			t.Errorf("%s: %v %s, want %q", line, err, out, want)
		}
	}

	run("-G", "-W", "-p", "acme.yaml.pub", "-s", "secret.key")
	catalogue(1)
	refused("feature:repo-add "+file, "is not signed")
	run("-Sm", "acme.yaml", "-s", "secret.key")
	refused("feature:repo-add "+file, "not trusted here yet")
	pub, err := os.ReadFile(filepath.Join(dir, "acme.yaml.pub"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(pub)), "\n")
	key := lines[len(lines)-1]
	c.Ctl("feature:repo-add --key " + key + " " + file)
	out := c.Ctl("feature:repo-list")
	shown := lines[0][strings.LastIndexByte(lines[0], ' ')+1:]
	id := strings.Repeat("0", max(0, 16-len(shown))) + shown // minisign shows no leading zeros
	if !strings.Contains(out, id) || !strings.Contains(c.Ctl("feature:key-list"), key) {
		t.Errorf("not the ID that minisign shows, %s:\n%s", id, out)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(mustRead(t, file), "serial: 1", "serial: 2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("feature:repo-add "+file, "not what its author signed")
	catalogue(3)
	run("-Sm", "acme.yaml", "-s", "secret.key", "-t", "acme, third edition")
	c.Ctl("feature:repo-add " + file) // the key is trusted: no question

	c.Ctl("feature:install --grant faulty")
	if out := c.Ctl("feature:verify faulty"); !strings.Contains(out, "signed with the key "+id) || !strings.Contains(out, "| ok") {
		t.Errorf("feature:verify:\n%s", out)
	}
	if out := c.Ctl("plugin:info faulty"); !strings.Contains(out, "catalogue acme, signed with the key "+id) {
		t.Errorf("plugin:info:\n%s", out)
	}
	if err := os.WriteFile(own+".new", []byte(program+"changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(own+".new", own); err != nil {
		t.Fatal(err)
	}
	refused("feature:verify", "is not the one in the catalogue")
	refused("plugin:restart faulty", "is not the one in the catalogue")
	if out := c.Ctl("plugin:list | grep faulty"); !strings.Contains(out, "failed") {
		t.Errorf("what cannot heal is tried again:\n%s", out)
	}
	c.Ctl("feature:key-revoke " + shown)
	if out := c.Ctl("feature:repo-list"); !strings.Contains(out, "was revoked by") {
		t.Errorf("feature:repo-list:\n%s", out)
	}
	if out := c.Ctl("plugin:list"); strings.Contains(out, "faulty") {
		t.Errorf("a plugin of a revoked key is there still:\n%s", out)
	}
	if out := c.Ctl("audit:show --what key"); !strings.Contains(out, "trust key") || !strings.Contains(out, "revoke key") {
		t.Errorf("audit:show:\n%s", out)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
