package architecture

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// copyrightLine is how texts name who owns them.
var copyrightLine = regexp.MustCompile(`(?i)copyright\s+(\(c\)|©|\d{4})|©\s*\d{4}`)

// Every source is this project's own; only the list of licences of libraries that are bundled has their lines.
func TestNoSourceHasAnothersCopyright(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() && (name == ".git" || name == "node_modules" || name == "bin" || name == "shared" || name == "dist") {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || strings.HasPrefix(name, "LICENSE") || name == "copyright_test.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 { // a picture or a program
			return err
		}
		seen++
		if at := copyrightLine.FindIndex(text); at != nil {
			t.Errorf("%s:%d has the copyright line of another: write it in our own words", path, 1+bytes.Count(text[:at[0]], []byte("\n")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Errorf("only %d files were read", seen)
	}
}
