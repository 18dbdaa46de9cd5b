package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const usage = `usage: ctl-plugins link DIR

Makes a hard link to this program in DIR for each of the plugins
  %s
which is what ctld starts.
`

func names() string { return strings.Join(slices.Sorted(maps.Keys(plugins)), " ") }

// linkAll links this program into dir under the name of each plugin.
func linkAll(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name := range plugins {
		if err := link(self, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// link links beside the place and renames: a running plugin keeps its old file.
func link(self, path string) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(self, next); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	// A rename between two links to the same file does nothing and leaves both.
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
