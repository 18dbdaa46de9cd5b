package vendorfile

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A change is known by what is in the file: two of the same size may have the same time.
func TestSourceSeesAChangeOfTheSameTimeAndSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.xml")
	at := time.Unix(1_000_000, 0)
	s := NewSource([]string{path}, slog.New(slog.DiscardHandler))
	for _, model := range []string{"Dell_PowerConnect-5548", "Dell_PowerConnect-5549"} {
		text := strings.ReplaceAll(sample, "Dell_PowerConnect-5548", model)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		s.looked = time.Time{} // as after the time until it is looked at again
		if f := s.File(); f.Models[model] == nil {
			t.Errorf("%s is not known after the change: %v", model, f.Problems)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.looked = time.Time{}
	if f := s.File(); len(f.Models) != 0 {
		t.Errorf("without the file %d models are known", len(f.Models))
	}
}
