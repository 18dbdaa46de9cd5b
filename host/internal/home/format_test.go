package home

import (
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
	if b, err := os.ReadFile(mark); err != nil || string(b) != "1\n" {
		t.Fatalf("a new home is marked %q, %v", b, err)
	}
	if err := os.Remove(mark); err != nil { // as before there was a mark
		t.Fatal(err)
	}
	open(t, dir).Close()
	for mine, says := range map[string]string{"2\n": "newer release", "": "instead of a format number", "x": "instead of a format number", "-1": "instead of a format number"} {
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
