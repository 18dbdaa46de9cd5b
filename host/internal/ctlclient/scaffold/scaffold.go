// Package scaffold writes the first files of a plugin, for ctl plugin new. What it
// writes compiles and passes its own tests at once.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"
)

//go:embed all:templates
var templates embed.FS

// Kinds are the capabilities that a skeleton is there for.
func Kinds() []string {
	return []string{"operations", "switchdriver", "realm", "topology"}
}

// elsewhere leads to where a capability without a skeleton is shown.
var elsewhere = map[string]string{
	"routes":     "; begin with operations and add routes, docs/plugin-author.md lists the keys",
	"commands":   "; begin with operations and add commands, docs/plugin-author.md lists the keys",
	"bierdriver": "; docs/bier-driver.md shows how one is written, plugins/bier-driver-cli is a whole one",
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxName is the longest name of a plugin, which is part of a socket's path.
const maxName = 32

// Plugin says what to write.
type Plugin struct {
	Name string
	Kind string
	Dir  string // made; must not exist, or be empty
	// Source is the module that the replace line of a module of its own leads to; empty when Dir lies in that tree and
	// needs none.
	Source string
}

// values are what the templates show.
type values struct {
	Name   string // link-counter
	Go     string // LinkCounter
	Realm  string // LinkCounterRealm, the class in sec.ini
	Kind   string
	Module string // import path of the plugin
}

// Write makes the directory and its files and returns their paths. Nothing is left
// when it fails.
func Write(p Plugin) (files []string, err error) {
	if !namePattern.MatchString(p.Name) || len(p.Name) > maxName {
		return nil, fmt.Errorf(
			"the name %q must be small letters and digits, parts separated by a hyphen, at most %d characters",
			p.Name,
			maxName,
		)
	}
	if !slices.Contains(Kinds(), p.Kind) {
		return nil, fmt.Errorf(
			"unknown kind %q, expected one of %s%s",
			p.Kind,
			strings.Join(Kinds(), ", "),
			elsewhere[p.Kind],
		)
	}
	made, err := makeDir(p.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			return
		}
		for _, f := range files {
			os.Remove(f)
		}
		if made {
			os.RemoveAll(p.Dir)
		}
		files = nil
	}()
	v := values{
		Name:   p.Name,
		Go:     toCamelCase(p.Name),
		Realm:  strings.TrimSuffix(toCamelCase(p.Name), "Realm") + "Realm",
		Kind:   p.Kind,
		Module: p.Name,
	}
	for _, dir := range []string{"common", p.Kind} {
		written, err := renderTemplates(filepath.Join("templates", dir), p.Dir, v)
		files = append(files, written...)
		if err != nil {
			return files, err
		}
	}
	if p.Source == "" {
		return files, nil
	}
	written, err := writeModule(p.Dir, v.Module, p.Source)
	return append(files, written...), err
}

// makeDir makes a directory, or takes an empty one.
func makeDir(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, os.MkdirAll(dir, 0o755)
	case err != nil:
		return false, err
	case len(entries) > 0:
		return false, fmt.Errorf("%s is not empty; nothing was written", dir)
	}
	return false, nil
}

// renderTemplates writes the templates of a directory; their names end in .tmpl.
func renderTemplates(from, to string, v values) (files []string, err error) {
	err = fs.WalkDir(templates, from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := templates.ReadFile(path)
		if err != nil {
			return err
		}
		t, err := template.New(path).Delims("<<", ">>").Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, v); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		name := filepath.Join(
			to,
			strings.ReplaceAll(strings.TrimSuffix(rel, ".tmpl"), "NAME", v.Name),
		)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		files = append(files, name)
		return os.WriteFile(name, out.Bytes(), 0o644)
	})
	return files, err
}

func toCamelCase(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		r := []rune(part)
		b.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
	}
	return b.String()
}
