package clones

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ctl.internal/sdk/fault"
)

// maxAlternates is how far git follows one store of objects that borrows from another.
const maxAlternates = 5

// missingAlternate returns a directory whose objects a repository borrows (objects/info/alternates,
// gitrepository-layout(5)) and that cannot be read; empty if there is none. The isolation of the plugin permits only
// directories that were granted.
func missingAlternate(dir string) string {
	stores := []string{filepath.Join(dir, "objects")}
	for range maxAlternates {
		var next []string
		for _, store := range stores {
			next = append(next, readAlternates(store)...)
		}
		for _, store := range next {
			if _, err := os.ReadDir(store); err != nil {
				return store
			}
		}
		stores = next
	}
	return ""
}

// readAlternates are the stores of objects that another one names.
func readAlternates(objects string) []string {
	text, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if err != nil {
		return nil
	}
	var stores []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if path, err := strconv.Unquote(line); err == nil {
			line = path
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(objects, line)
		}
		stores = append(stores, filepath.Clean(line))
	}
	return stores
}

// cannotBorrow is the error of a project that borrows objects from a directory that cannot be read.
func cannotBorrow(project, store string) error {
	return fault.New(fault.Unavailable, "project %s borrows objects from %s (objects/info/alternates), which cannot be read: "+
		"add the directory to the setting alternates of etc/repoinfo.yaml, or run git repack -a -d in the clone and remove the file", project, store)
}
