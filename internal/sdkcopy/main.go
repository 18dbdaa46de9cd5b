// Command sdkcopy makes the module that plugins outside the source tree build with: sdk,
// proto and the internal packages that these import, with a go.mod of their own
// requirements only. `make build` runs it; `ctl plugin new` points to what it made.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "ctl.internal"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(
			os.Stderr,
			"usage: sdkcopy DIR, from the top of the tree; DIR is made, or replaced if an earlier run made it",
		)
		os.Exit(2)
	}
	if err := copySDK(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sdkcopy:", err)
		os.Exit(1)
	}
}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath, Dir                     string
	GoFiles, IgnoredGoFiles, EmbedFiles []string
	Standard                            bool
	Module                              *struct{ Path, Version, GoVersion string }
}

func copySDK(to string) error {
	packages, err := listPackages()
	if err != nil {
		return err
	}
	next := to + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	requires := map[string]string{}
	version := ""
	for _, p := range packages {
		switch {
		case p.Standard || p.Module == nil:
		case p.Module.Path != module:
			requires[p.Module.Path] = p.Module.Version
		default:
			version = p.Module.GoVersion
			if err := copyPackage(&p, next); err != nil {
				return err
			}
		}
	}
	protos, _ := filepath.Glob("proto/ctl/plugin/v1/*.proto") // the pattern is well-formed
	for _, file := range append(protos, "LICENSE") {
		if err := copyFile(file, filepath.Join(next, file)); err != nil {
			return err
		}
	}
	if err := writeModule(next, version, requires); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(next, to)
}

// listPackages returns the packages of the SDK and all that they import.
func listPackages() ([]goPackage, error) {
	out, err := goOutput(
		".",
		"list",
		"-deps",
		"-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,EmbedFiles,Standard,Module",
		"./sdk/...",
		"./proto/ctl/...",
	)
	if err != nil {
		return nil, err
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

func goOutput(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out, nil
}

func copyPackage(p *goPackage, to string) error {
	dir := filepath.Join(to, strings.TrimPrefix(p.ImportPath, module))
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.EmbedFiles) {
		if err := copyFile(filepath.Join(p.Dir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// writeModule writes go.mod, and of the tree's go.sum the lines of the modules that are
// needed: whole those that packages are imported from, of others their go.mod.
func writeModule(dir, version string, requires map[string]string) error {
	var mod strings.Builder
	fmt.Fprintf(&mod, "module %s\n\ngo %s\n\nrequire (\n", module, version)
	needed := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(requires)) {
		fmt.Fprintf(&mod, "\t%s %s\n", path, requires[path])
		needed[path+" "+requires[path]] = true
	}
	mod.WriteString(")\n")
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod.String()), 0o644); err != nil {
		return err
	}
	all, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	sums := filepath.Join(dir, "go.sum")
	if err := os.WriteFile(sums, all, 0o644); err != nil {
		return err
	}
	graph, err := goOutput(dir, "mod", "graph")
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(string(graph)) {
		if path, v, ok := strings.Cut(word, "@"); ok {
			needed[path+" "+v+"/go.mod"] = true
		}
	}
	var kept strings.Builder
	for line := range strings.Lines(string(all)) {
		i := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		if i > 0 && needed[line[:i]] {
			kept.WriteString(line)
		}
	}
	return os.WriteFile(sums, []byte(kept.String()), 0o644)
}
