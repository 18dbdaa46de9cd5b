package plugin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// The numbers are those of the list of known faults of plugin hosts that this
// supervisor answers to.

func TestFault01BadLogLinesDoNotKillTheHost(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty("bad-log"))
	r.must("log", `{"text":"{\"@level\":7,\"@message\":{}}"}`)
	r.must("echo", "{}")
}

func TestFault08PrintingBeforeTheHandshakeIsHarmless(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty("print"))
	if r.log.count("Welcome to the faulty plugin!") != 1 {
		t.Error("what was printed is not in the log")
	}
}

// startFails starts a plugin that cannot start and returns the error.
func startFails(t *testing.T, r *rig, s Spec) string {
	t.Helper()
	err := r.Ensure(r.ctx(), s)
	if err == nil {
		t.Fatal("the plugin has started")
	}
	return err.Error()
}

func TestFault09AnEarlyEndIsNamed(t *testing.T) {
	for _, c := range []struct{ name, word, want string }{
		{"panic", "panic", "ended before its handshake: exit status 2; last words: panic: faulty from the start"},
		{"exit", "exit=3", "ended before its handshake: exit status 3; last words: giving up early"},
		{"exit 0", "exit=0", "ended before its handshake, without an error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			if got := startFails(t, r, faulty(c.word)); !strings.Contains(got, c.want) {
				t.Errorf("error %q lacks %q", got, c.want)
			}
		})
	}
}

func TestASilentPluginIsGivenUp(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits.StartTimeout = 300e6 })
	if got := startFails(t, r, faulty("silent")); !strings.Contains(got, "no handshake within 300ms") {
		t.Error(got)
	}
}

func TestAStartCanBeCancelled(t *testing.T) {
	r := newRig(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200e6)
	defer cancel()
	if err := r.Ensure(ctx, faulty("silent")); err == nil || !strings.Contains(err.Error(), "still starting") {
		t.Errorf("Ensure: %v", err)
	}
	if err := r.Remove(r.ctx(), "faulty"); err != nil {
		t.Error(err)
	}
}

func TestFault19AWrongHandshakeVersionSaysSo(t *testing.T) {
	r := newRig(t, nil)
	if got := startFails(t, r, faulty("bad-handshake")); !strings.Contains(got, "incompatible core API version") {
		t.Error(got)
	}
}

func TestAPluginThatIsAnotherIsRefused(t *testing.T) {
	r := newRig(t, nil)
	if got := startFails(t, r, faulty("lie")); !strings.Contains(got, `contains the plugin "honest"`) {
		t.Error(got)
	}
	if i := r.untilState("faulty", Failed); i.Failures != 1 {
		t.Errorf("it was tried %d times although that cannot help", i.Failures)
	}
}

func TestMissingAndUnfitFiles(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	open := filepath.Join(dir, "open")
	text := filepath.Join(dir, "text")
	for _, f := range []struct {
		path string
		mode os.FileMode
	}{{plain, 0o644}, {open, 0o777}, {text, 0o755}} {
		if err := os.WriteFile(f.path, []byte("no program"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(f.path, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	fifo := filepath.Join(dir, "fifo") // opening it would wait for a writer
	if err := unix.Mkfifo(fifo, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, want string }{
		{"a FIFO", fifo, "it is a FIFO, not a regular file"},
		{"a device", os.DevNull, "it is a device, not a regular file"},
		{"absent", filepath.Join(dir, "absent"), "there is no plugin file"},
		{"not executable", plain, "chmod +x"},
		{"writable by all", open, "chmod o-w"},
		{"a directory", dir, "not a regular file"},
		{"no program", text, "cannot be executed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			if got := startFails(t, r, Spec{Name: "faulty", Path: c.path}); !strings.Contains(got, c.want) {
				t.Errorf("error %q lacks %q", got, c.want)
			}
			none := func(*pluginv1.Manifest) bool { return false }
			if err := r.Absent(none); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "plugin faulty") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("what it may serve is answered with %v", err)
			}
		})
	}
}

func TestFault17TheFileMustBeTheOneOfTheCatalogue(t *testing.T) {
	r := newRig(t, nil)
	s := faulty()
	s.SHA256 = strings.Repeat("0", 64)
	got := startFails(t, r, s)
	for _, want := range []string{"expected " + s.SHA256, "its sha256 is", "features.yaml"} {
		if !strings.Contains(got, want) {
			t.Errorf("error %q lacks %q", got, want)
		}
	}
	if i := r.untilState("faulty", Failed); i.Failures != 1 || i.Restarts != 0 {
		t.Errorf("what cannot heal was tried again: %+v", i)
	}
}

func TestFault17FilesBesideTheProgramAreChecked(t *testing.T) {
	dir := t.TempDir()
	own, beside := filepath.Join(dir, "faulty"), filepath.Join(dir, "lib", "part.py")
	copyFile(t, faultyBinary, own)
	write := func(text string) {
		if err := os.MkdirAll(filepath.Dir(beside), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(beside, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("as signed")
	r := newRig(t, nil)
	s := Spec{Name: "faulty", Path: own, Held: faultyGrants, Files: map[string]string{"lib/part.py": fmt.Sprintf("%X", sha256.Sum256([]byte("as signed")))}}
	r.ensure(s)
	if err := r.Verify("faulty"); err != nil {
		t.Fatal(err)
	}
	write("changed")
	if err := r.Verify("faulty"); err == nil || !strings.Contains(err.Error(), "part.py is not the one in the catalogue") {
		t.Errorf("verify: %v", err)
	}
	if err := r.Restart(r.ctx(), "faulty"); err == nil || !strings.Contains(err.Error(), "part.py is not the one in the catalogue") {
		t.Errorf("restart: %v", err)
	}
	if i := r.untilState("faulty", Failed); i.Restarts != 0 {
		t.Errorf("%+v", i)
	}
}

func TestFault17AChangedFileIsToldAndNotUsedInSilence(t *testing.T) {
	own := filepath.Join(t.TempDir(), "faulty")
	copyFile(t, faultyBinary, own)
	r := newRig(t, nil)
	r.ensure(Spec{Name: "faulty", Path: own, Held: faultyGrants})
	if err := r.Verify("faulty"); err != nil {
		t.Errorf("verify: %v", err)
	}
	sup, err := r.findSupervisor("faulty")
	if err != nil {
		t.Fatal(err)
	}
	err = sup.checkExecutable(sup.cur.Load(), strings.Repeat("0", 64)) // as if the process had executed another program since
	if os.Geteuid() == 0 && (err == nil || !strings.Contains(err.Error(), "runs another program")) {
		t.Errorf("another program: %v", err)
	}
	tmp := own + ".new"
	copyFile(t, faultyBinary, tmp)
	f, err := os.OpenFile(tmp, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("changed"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Rename(tmp, own); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify("faulty"); fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("verify after the change: %v", err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsThatThePluginRefusesFailAtOnce(t *testing.T) {
	config := `{"refuse":"no such mode"}`
	r := newRig(t, func(o *Options) {
		o.Settings = func(string, []byte) ([]byte, error) { return []byte(config), nil }
	})
	if got := startFails(t, r, faulty()); !strings.Contains(got, "/refuse: no such mode") {
		t.Error(got)
	}
	if i := r.untilState("faulty", Failed); i.Failures != 1 {
		t.Errorf("tried %d times", i.Failures)
	}
	config = `{"level":10}`
	if err := r.Restart(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if i, _ := r.Info("faulty"); len(i.Warnings) != 1 || i.State != Ready {
		t.Errorf("after the correction: %+v", i)
	}
}

func TestTwoPluginsCannotServeTheSame(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	other := faulty("name=second")
	other.Name = "second"
	if got := startFails(t, r, other); !strings.Contains(got, "RPC faulty:echo, which plugin faulty serves") {
		t.Error(got)
	}
	r.must("echo", "{}")
	// The same when both start at the same moment.
	both := newRig(t, nil)
	results := make(chan error, 2)
	go func() { results <- both.Ensure(both.ctx(), faulty()) }()
	go func() { results <- both.Ensure(both.ctx(), other) }()
	a, b := <-results, <-results
	if (a == nil) == (b == nil) {
		t.Errorf("started at the same moment: %v, %v", a, b)
	}
}

func TestAScriptCanBeAPlugin(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho starting >&2\nexec "+faultyBinary+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil)
	r.ensure(Spec{Name: "faulty", Path: script, Held: faultyGrants})
	r.must("echo", "{}")
	if err := r.Reload(r.ctx(), "faulty"); err != nil {
		t.Error(err)
	}
}
