// Package models carries the YANG modules that several BIER plugins ship.
package models

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"ctl.internal/internal/yang"
)

//go:embed yang
var shared embed.FS

// With returns a plugin's own modules together with the shared ones and some of
// those that package yang carries, for sdk.Options.YANG.
func With(own fs.FS, carried ...string) fs.FS {
	return layers{own, shared, only{yang.Modules(), carried}}
}

// layers looks in one file system after the other.
type layers []fs.FS

// Open implements fs.FS.
func (l layers) Open(name string) (f fs.File, err error) {
	for _, one := range l {
		if f, err = one.Open(name); err == nil {
			return f, nil
		}
	}
	return nil, err
}

// Glob implements fs.GlobFS: what all have.
func (l layers) Glob(pattern string) (out []string, err error) {
	for _, one := range l {
		names, err := fs.Glob(one, pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return out, nil
}

// only shows the files of some modules.
type only struct {
	fs.FS
	modules []string
}

// Glob implements fs.GlobFS.
func (o only) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(o.FS, pattern)
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(o.modules, strings.TrimSuffix(path.Base(name), ".yang"))
	}), err
}
