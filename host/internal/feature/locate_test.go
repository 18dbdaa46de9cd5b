package feature

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLocate(t *testing.T) {
	beside, own := t.TempDir(), t.TempDir()
	write := func(dir, name string, mode os.FileMode, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256([]byte("x"))
	write(beside, "switch", 0o755, "x")
	write(beside, "unlisted", 0o755, "x")
	write(beside, "SHA256SUMS", 0o644, hex.EncodeToString(sum[:])+"  switch\nzz *bad\n")
	write(beside, "bad", 0o755, "x")
	write(own, "switch", 0o755, "other")
	write(own, "mine", 0o755, "x")
	write(own, "text", 0o644, "x")
	l := Locator{Dirs: []string{beside, own, filepath.Join(own, "none")}}
	path, got, err := l.Locate("switch")
	if err != nil || path != filepath.Join(beside, "switch") || got != hex.EncodeToString(sum[:]) {
		t.Fatalf("%s %s %v", path, got, err)
	}
	if path, got, err := l.Locate("mine"); err != nil || path != filepath.Join(own, "mine") || got != "" {
		t.Fatalf("%s %s %v", path, got, err)
	}
	for name, says := range map[string]string{"unlisted": "make build", "bad": "not a sha256", "text": "not an executable",
		"swich": `did you mean "switch"?`, "../switch": "not a feature's name"} {
		if _, _, err := l.Locate(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
}
