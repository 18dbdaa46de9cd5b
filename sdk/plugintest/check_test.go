package plugintest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
)

func buildFaulty(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "faulty")
	if out, err := exec.CommandContext(within(t), "go", "build", "-o", bin, "ctl.internal/sdk/plugintest/faulty").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// script returns an executable that runs the plugin with an environment of its own.
func script(t *testing.T, bin, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wrapped")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.ReplaceAll(text, "PLUGIN", bin)+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheSuite(t *testing.T) {
	bin := buildFaulty(t)
	t.Run("passes a plugin that behaves", func(t *testing.T) { plugintest.Run(t, bin) })
	for _, c := range []struct {
		name, script string
		config       any
		want         string
	}{
		{"standard output", `FAULTY=print exec PLUGIN "$@"`, nil, "handshake: fault: it writes to standard output"},
		{"an early panic", `FAULTY=panic exec PLUGIN "$@"`, nil, "handshake: fault: start: the plugin ended without a handshake (exit status 2)"},
		{"plain log lines", `echo words >&2; exec PLUGIN "$@"`, nil, `handshake: warning: a log line is no JSON`},
		{"no stop", `exec PLUGIN "$@"`, map[string]bool{"ignore-stop": true}, "stop: fault: Stop takes longer"},
		{"a refusal", `exec PLUGIN "$@"`, map[string]string{"refuse": "never"}, "configure: fault: Configure: /refuse: never"},
		{"health", `exec PLUGIN "$@"`, map[string]string{"health": "degraded"}, "health: warning: after its start it says STATE_DEGRADED: by the settings"},
		{"a secret that is not marked", `FAULTY=unmarked exec PLUGIN "$@"`, nil,
			"manifest: fault: YANG module faulty: /store/console-password has the name of a secret: write ctl:secret in it"},
		{"another name by hand", `if [ "$1" = describe ]; then export FAULTY=lie; fi; exec PLUGIN "$@"`, nil, "describe: fault: `describe` prints another manifest"},
	} {
		t.Run("finds "+c.name, func(t *testing.T) {
			var all []string
			name, _, _ := strings.Cut(c.want, ":")
			for _, f := range plugintest.Check(t.Context(), script(t, bin, c.script), plugintest.WithConfig(c.config), plugintest.WithChecks(name)) {
				all = append(all, f.String())
			}
			if !strings.Contains(strings.Join(all, "\n"), c.want) {
				t.Errorf("no %q in\n%s", c.want, strings.Join(all, "\n"))
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	f := plugintest.Check(t.Context(), filepath.Join(t.TempDir(), "none"))
	if len(f) == 0 || !strings.Contains(f[0].Text, "is not an executable file") {
		t.Errorf("findings %v", f)
	}
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
