// Command ctl-plugins is all plugins in one file, since they share most of their code. Started
// by the hard link with a plugin's name it is that plugin, in a process of its own.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctl.internal/sdk"
)

const usage = `usage: ctl-plugins link DIR

Makes a hard link to this program in DIR for each of the plugins
  %s
which is what ctld starts.
`

func main() {
	if options, ok := plugins[filepath.Base(os.Args[0])]; ok {
		sdk.Serve(options())
	}
	if len(os.Args) != 3 || os.Args[1] != "link" {
		fmt.Fprintf(os.Stderr, usage, strings.Join(slices.Sorted(maps.Keys(plugins)), " "))
		os.Exit(2)
	}
	if err := linkAll(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "ctl-plugins:", err)
		os.Exit(1)
	}
}

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
	_ = os.Remove(next) // what stays keeps the link from being made
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
