package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	ctl "ctl.internal"
)

func open(t *testing.T, path string) *Home {
	t.Helper()
	h, err := Open(path, ctl.Templates)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestMissingHomeIsMade(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "h"))
	if !h.Created {
		t.Fatal("not said to be created")
	}
	for path, want := range map[string]fs.FileMode{"etc/ctl.yaml": 0o644, "etc/sec.ini": 0o600, "etc/idmtool": 0o755,
		"etc/ctl/karaf/08-authn-config.xml": 0o600, "etc/ctl/datastore/initial/config/aaa-cert-config.xml": 0o600,
		"etc/ctl/datastore/initial/config/aaa-encrypt-service-config.xml": 0o600, "features.yaml": 0o644,
		"data": 0o700, "data/run": 0o700, "configuration/ssl": 0o700, "log": 0o700} {
		if got := mode(t, h.Path(path)); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	if _, ps := Load(h.Dir, nil, nil); len(ps) > 0 {
		t.Fatalf("the shipped settings have problems: %v", ps)
	}
}

func TestOperatorsFilesStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	if err := os.MkdirAll(filepath.Join(dir, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	ini := filepath.Join(dir, "etc/sec.ini")
	if err := os.WriteFile(ini, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := open(t, dir) // the home existed in part: what was missing is added
	if b, err := os.ReadFile(ini); err != nil || string(b) != "mine" {
		t.Fatalf("sec.ini is %q, %v", b, err)
	}
	if err := errors.Join(os.Remove(h.Etc("idmtool")), os.Chmod(h.Data(), 0o755), h.Close()); err != nil {
		t.Fatal(err)
	}
	h = open(t, dir)
	if _, err := os.Stat(h.Etc("idmtool")); !errors.Is(err, fs.ErrNotExist) || h.Created {
		t.Fatal("a file that the operator removed came back")
	}
	if got := mode(t, h.Data()); got != 0o700 {
		t.Fatalf("data was left at %o", got)
	}
}

// Settings and rules copied from another home are completed, not taken for a whole home.
func TestAHomeOfCopiedFilesIsCompleted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	if err := os.MkdirAll(filepath.Join(dir, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ctl.yaml", "sec.ini"} {
		if err := os.WriteFile(filepath.Join(dir, "etc", name), []byte("# mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := open(t, dir)
	for _, name := range []string{"features.yaml", "etc/idmtool", "etc/ctl/karaf/08-authn-config.xml"} {
		if _, err := os.Stat(h.Path(name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"ctl.yaml", "sec.ini"} {
		if b, err := os.ReadFile(h.Etc(name)); err != nil || string(b) != "# mine\n" {
			t.Errorf("%s was replaced: %q, %v", name, b, err)
		}
	}
}

func TestSettingsMayLieThereBeforeTheFirstStart(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "home"))
	if err := os.MkdirAll(dir.Etc(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Etc("ctl.yaml"), []byte("log: {level: DEBUG}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h, err := Open(string(dir), ctl.Templates)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(dir.Etc("ctl.yaml")); err != nil || string(b) != "log: {level: DEBUG}\n" {
			t.Errorf("the settings became %q %v", b, err)
		}
		_, ini := os.Stat(dir.Etc("sec.ini"))
		_, catalogue := os.Stat(dir.Path("features.yaml"))
		if err := errors.Join(ini, catalogue); (err == nil) != h.Created {
			t.Errorf("made by this start: %v, but %v", h.Created, err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		os.Remove(dir.Etc("sec.ini")) // and later it stays away
	}
}

func TestTwoControllersCannotShareAHome(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "h"))
	_, err := Open(string(h.Dir), ctl.Templates)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "process") {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, string(h.Dir))
}

func TestForeignDirectoryIsNotLittered(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, ctl.Templates); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Fatalf("%v", files)
	}
}

func TestTooLongAPathForSocketsIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 20))
	_, err := Open(dir, ctl.Templates)
	if err == nil || !strings.Contains(err.Error(), "choose a shorter --home") {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("something was made nevertheless")
	}
}

func TestNewReleaseBringsItsCatalogueUnlessEdited(t *testing.T) {
	release := func(features string) fs.FS {
		return fstest.MapFS{"etc/ctl.yaml": {}, "features.yaml": {Data: []byte(features)}}
	}
	dir := filepath.Join(t.TempDir(), "h")
	start := func(features, want string) {
		t.Helper()
		h, err := Open(dir, release(features))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if b, err := os.ReadFile(h.Path("features.yaml")); err != nil || string(b) != want {
			t.Fatalf("%q, %v; want %q", b, err, want)
		}
	}
	start("one", "one")
	start("two", "two")
	if err := os.WriteFile(filepath.Join(dir, "features.yaml"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	start("two", "mine")
	start("three", "mine")
	if err := os.Remove(filepath.Join(dir, "features.yaml")); err != nil {
		t.Fatal(err)
	}
	h, err := Open(dir, release("three"))
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
}

// The disk of a home may not be mounted: nothing is made in its place.
func TestLinkToNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "h")
	if err := os.Symlink(filepath.Join(t.TempDir(), "disk"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, ctl.Templates); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("got %v", err)
	}
}

func TestRemedyForAHomeOfAnotherUser(t *testing.T) {
	err := withOwnerRemedy(&fs.PathError{Op: "mkdir", Path: "/h/data", Err: unix.EACCES})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "/h/data") || !strings.Contains(err.Error(), "chown") {
		t.Errorf("got %v", err)
	}
	if other := errors.New("x"); withOwnerRemedy(other) != other || withOwnerRemedy(nil) != nil {
		t.Error("changed what is something else")
	}
}

// A copy that was made while a controller had the home, or after it was killed, is known as
// one; a copy of a home that was closed, and the home itself after a kill, are not.
func TestACopyOfARunningHome(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "h")
	h := open(t, dir)
	take := func(name string) *Home {
		t.Helper()
		to := filepath.Join(base, name)
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		c := open(t, to)
		t.Cleanup(func() { c.Close() })
		return c
	}
	if c := take("running"); c.CopyOf != dir {
		t.Errorf("a copy of a running home is one of %q", c.CopyOf)
	}
	if _, err := Open(dir, ctl.Templates); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("process %d;", os.Getpid())) {
		t.Errorf("in use: %v", err)
	}
	h.lock.Close() // as kill -9 does
	h = open(t, dir)
	if h.CopyOf != "" {
		t.Errorf("the home itself is a copy of %q", h.CopyOf)
	}
	h.Close()
	if c := take("stopped"); c.CopyOf != "" {
		t.Errorf("a copy of a stopped home is one of %q", c.CopyOf)
	}
}
