// Package files says which files of the controller's machine the commands of a console session may
// read and make. Who comes over SSH reaches an Area only; the operator at the machine has the files
// of the home, and sends the content of others (package sshserver).
package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"ctl.internal/sdk/fault"
)

// Area is a set of places.
type Area struct {
	Home  string   // absolute; relative paths begin here
	Dirs  []string // files below them may be read and made
	Files []string // these, too
}

// defaults are the files that the specification names: a plugin reads the first that exists.
var defaults = []string{"switch_swdb.csv", "switch_VendorSpecificSwitchConfig.xml"}

// New returns the area of a home: import/, export/, the default files and the directories that
// etc/ctl.yaml names.
func New(home string, more []string) Area {
	a := Area{
		Home: home,
		Dirs: []string{filepath.Join(home, "import"), filepath.Join(home, "export")},
	}
	for _, d := range more {
		a.Dirs = append(a.Dirs, a.Clean(d))
	}
	for _, f := range defaults {
		a.Files = append(a.Files, filepath.Join(home, "etc", f), filepath.Join("/etc", f))
	}
	return a
}

// Clean makes a path as it was typed absolute: relative to the home, with or without file://.
func (a Area) Clean(path string) string {
	path = strings.TrimPrefix(path, "file://")
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Home, path)
	}
	return filepath.Clean(path)
}

// Own reports whether a path, as it is written, is one of the home's or a default file.
func (a Area) Own(path string) bool {
	p := a.Clean(path)
	return slices.Contains(a.Files, p) || isBelowDir(p, a.Home)
}

// Reach returns the path of a file in the area without symbolic links, of one that is there or, with
// create, of one that is not. Of what is outside the area nothing is said, not even whether it is there.
func (a Area) Reach(path string, create bool) (string, error) {
	p := a.Clean(path)
	if strings.ContainsFunc(path, unicode.IsControl) {
		return "", a.deniedPathError(path)
	}
	if slices.Contains(a.Files, p) {
		return p, checkRegularFile(p, create)
	}
	for _, dir := range a.Dirs {
		if !isBelowDir(p, dir) {
			continue
		}
		top, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", fault.New(fault.NotFound, "the directory %s does not exist", dir)
		}
		real, err := resolveSymlinks(p, create)
		switch {
		case err != nil:
			return "", fault.New(fault.NotFound, "the file %s does not exist", p)
		case !isBelowDir(real, top):
			return "", a.deniedPathError(path)
		}
		return real, checkRegularFile(real, create)
	}
	return "", a.deniedPathError(path)
}

func (a Area) deniedPathError(path string) error {
	return fault.New(fault.Denied, "%q: over SSH files are read and made below %s only; copy it there, or name its directory in console.directories of etc/ctl.yaml",
		path, strings.Join(a.Dirs, ", "))
}

// resolveSymlinks follows symbolic links; of a file that is to be made, those of its directory.
func resolveSymlinks(p string, create bool) (string, error) {
	if !create {
		return filepath.EvalSymlinks(p)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(p))
	return filepath.Join(dir, filepath.Base(p)), err
}

func checkRegularFile(p string, create bool) error {
	info, err := os.Lstat(p)
	switch {
	case create && err == nil:
		return fault.New(fault.Exists, "%s exists already; choose another name, or remove it", p)
	case create && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.New(fault.NotFound, "the file %s does not exist", p)
	}
	if info.Mode()&fs.ModeSymlink != 0 { // a default file: where it leads is the operator's wish
		info, err = os.Stat(p)
	}
	if err != nil || !info.Mode().IsRegular() {
		return fault.New(fault.Invalid, "%s is not a file", p)
	}
	return nil
}

func isBelowDir(p, dir string) bool {
	return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// maxNames bounds what a directory of any size offers.
const maxNames = 200

// Complete lists the files and directories of the area that begin with a prefix.
func (a Area) Complete(prefix string) []string {
	typed, base := filepath.Split(prefix)
	var out []string
	if typed == "" {
		for _, d := range []string{"import/", "export/"} {
			if strings.HasPrefix(d, base) {
				out = append(out, d)
			}
		}
		return out
	}
	dir := a.Clean(typed)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !slices.ContainsFunc(a.Dirs, func(d string) bool {
		top, err := filepath.EvalSymlinks(d)
		return err == nil &&
			(dir == d || isBelowDir(dir, d)) &&
			(real == top || isBelowDir(real, top))
	}) {
		return nil
	}
	list, _ := os.ReadDir(real)
	for _, f := range list {
		if strings.HasPrefix(f.Name(), base) && len(out) < maxNames {
			name := typed + f.Name()
			if f.IsDir() {
				name += "/"
			}
			out = append(out, name)
		}
	}
	return out
}
