package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ctl "ctl.internal"
)

// A home of an earlier release opens and is marked; one of a later release is refused
// as it is.
func TestFormatOfAHome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	h := open(t, dir)
	h.Close()
	mark := h.Data("format")
	if b, err := os.ReadFile(mark); err != nil || string(b) != "2\n" {
		t.Fatalf("a new home is marked %q, %v", b, err)
	}
	if err := os.Remove(mark); err != nil { // as before there was a mark
		t.Fatal(err)
	}
	open(t, dir).Close()
	if err := os.WriteFile(mark, []byte("1\n"), 0o600); err != nil { // of the release before
		t.Fatal(err)
	}
	h = open(t, dir)
	catalogue, err := os.ReadFile(h.Path("features.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Upgrade(ctl.Templates, func() error { return errors.New("written by an earlier release") }); err == nil {
		t.Error("what cannot be read is upgraded")
	}
	if b, _ := os.ReadFile(mark); string(b) != "1\n" {
		t.Errorf("it is marked %q, though nothing was to be changed", b)
	}
	if b, _ := os.ReadFile(h.Path("features.yaml")); string(b) != string(catalogue) {
		t.Error("the catalogue was replaced")
	}
	if err := h.Upgrade(ctl.Templates, func() error { return nil }); err != nil {
		t.Error(err)
	}
	h.Close()
	if b, _ := os.ReadFile(mark); string(b) != "2\n" {
		t.Errorf("after the upgrade it is marked %q", b)
	}
	for mine, says := range map[string]string{"3\n": "newer release", "": "instead of a format number", "x": "instead of a format number", "-1": "instead of a format number"} {
		if err := os.WriteFile(mark, []byte(mine), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(h.Etc("ctl.yaml")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		_, err := Open(dir, ctl.Templates)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), mark) || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%q: %v", mine, err)
		}
		if b, _ := os.ReadFile(mark); string(b) != mine || exists(h.Etc("ctl.yaml")) {
			t.Errorf("%q: the home was changed", mine)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
