package feature

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/internal/nearest"
)

// sumsName is the file of checksums that `make build` writes beside the plugins,
// in the form of sha256sum.
const sumsName = "SHA256SUMS"

// Locator finds the executables of plugins.
type Locator struct {
	// Dirs are looked through in order: beside ctld, then the home.
	Dirs []string
}

// Locate returns the path of a plugin's executable and the checksum that stands
// beside it; a directory with a SHA256SUMS must name every plugin in it.
func (l Locator) Locate(name string) (path, sha256 string, err error) {
	if err := checkName(name); err != nil {
		return "", "", err
	}
	for _, dir := range l.Dirs {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			return "", "", fmt.Errorf("plugin %s: %s is not an executable file", name, path)
		}
		sum, err := sumOf(dir, name)
		return path, sum, err
	}
	return "", "", fmt.Errorf(
		"plugin %s is not in %s%s",
		name,
		strings.Join(l.Dirs, " or "),
		nearest.Hint(name, l.Names()),
	)
}

// Names lists the executables there are.
func (l Locator) Names() []string {
	var names []string
	for _, dir := range l.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a directory that is not there has no plugins
		}
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				names = append(names, e.Name())
			}
		}
	}
	return names
}

func sumOf(dir, name string) (string, error) {
	path := filepath.Join(dir, sumsName)
	f, err := home.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		sum, file, ok := strings.Cut(lines.Text(), " ")
		if ok && strings.TrimLeft(file, " *") == name {
			if !isSHA256(sum) {
				return "", fmt.Errorf("%s: the line of %s is not a sha256", path, name)
			}
			return strings.ToLower(sum), nil
		}
	}
	return "", fmt.Errorf(
		"plugin %s is not listed in %s: run `make build`, or add the output of sha256sum",
		name,
		path,
	)
}
