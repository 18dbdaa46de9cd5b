package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProgramDescribesItselfIsolated(t *testing.T) {
	if have, strong := new(Keeper).Measure(); !strong {
		t.Skipf("SKIPPED, NOT TESTED: the peer, a kernel that isolates, lacks %s", strings.Join(have.Missing, "; "))
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := func(text string) Spec {
		path := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return Spec{Path: path, Isolate: Alone(home)}
	}
	s := script(`echo "{\"name\":\"$(cat ` + home + `/key 2>/dev/null || echo refused)\",\"version\":\"$(id -u) $(grep -c '^Seccomp:.2' /proc/self/status)\"}"`)
	uid := os.Geteuid()
	if s.Isolate.User != 0 {
		uid = s.Isolate.User
	}
	m, err := Describe(t.Context(), s)
	if err != nil || m.Name != "refused" || m.Version != fmt.Sprint(uid, " 1") {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{"echo nothing": "not a manifest", "exit 3": "exit status 3", "exec cat /dev/zero": ""} {
		if m, err := Describe(t.Context(), script(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
	s.SHA256 = strings.Repeat("0", 64)
	if _, err := Describe(t.Context(), s); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("another file: %v", err)
	}
}
