package aaatest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that FAULTS.md names is there.
func TestTheTableOfFaultsIsTrue(t *testing.T) {
	table, err := os.ReadFile("FAULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(table), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "/") {
			continue
		}
		rows++
		dir := strings.TrimSpace(cells[2])
		files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no tests: %v", dir, err)
		}
		var text strings.Builder
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
		for _, name := range strings.Fields(cells[3]) {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(text.String()) {
				t.Errorf("%s has no %s", dir, name)
			}
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows", rows)
	}
}
