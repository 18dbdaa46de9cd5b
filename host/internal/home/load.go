package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/nearest"
)

// maxConfig bounds a settings file, in bytes.
const maxConfig = 1 << 20

// Loaded are the settings in force and where each comes from.
type Loaded struct {
	Config
	origin map[string]string
}

// Effective is one setting as `config show --effective` prints it.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // secrets are masked
	Origin string `json:"origin"` // default, etc/ctl.yaml:LINE, env NAME or flag --NAME
}

// Effective lists all settings in the order of the documentation.
func (l *Loaded) Effective() []Effective {
	var out []Effective
	c := l.Config
	for _, s := range leaves(&c) {
		out = append(out, Effective{s.key, s.text(), l.origin[s.key]})
	}
	return out
}

// Load reads the settings of a home: defaults, then etc/ctl.yaml, then the
// environment (as from os.Environ), then flags (dotted key → value, such as
// "listeners.http": ":0"). Every fault is returned; those of Fatal must stop the start.
func Load(dir Dir, environ []string, flags map[string]string) (*Loaded, []Problem) {
	l := &Loaded{Config: Default(), origin: map[string]string{}}
	settings := map[string]setting{}
	for _, s := range leaves(&l.Config) {
		settings[s.key] = s
		l.origin[s.key] = "default"
	}
	ps := l.file(dir.Etc("ctl.yaml"), settings)
	ps = append(ps, l.environment(environ, settings)...)
	for _, key := range sortedKeys(flags) {
		s, ok := settings[key]
		if !ok {
			ps = append(ps, Problem{File: "flags", Key: key, Text: "no such setting" + nearest.Hint(key, sortedKeys(settings))})
			continue
		}
		if err := s.setText(flags[key]); err != nil {
			ps = append(ps, Problem{File: "flags", Key: key, Text: err.Error()})
			continue
		}
		l.origin[key] = "flag --" + key[strings.LastIndexByte(key, '.')+1:]
	}
	if Fatal(ps) == nil {
		ps = append(ps, l.check(dir)...)
	}
	return l, ps
}

func (l *Loaded) file(path string, settings map[string]setting) []Problem {
	b, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []Problem{{File: path, Text: err.Error()}}
	}
	root, p := parseYAML(path, b)
	if p != nil {
		return []Problem{*p}
	}
	if root == nil {
		return nil
	}
	f := &fileReader{path: path, loaded: l, settings: settings}
	f.mapping("", root)
	return f.problems
}

// fileReader walks the document, so that every fault has its line.
type fileReader struct {
	path     string
	loaded   *Loaded
	settings map[string]setting
	problems []Problem
}

func (f *fileReader) fault(n *yaml.Node, key, format string, args ...any) {
	f.problems = append(f.problems, Problem{File: f.path, Line: n.Line, Key: key, Text: fmt.Sprintf(format, args...)})
}

func (f *fileReader) mapping(prefix string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		f.fault(n, strings.TrimSuffix(prefix, "."), "must be a mapping of settings")
		return
	}
	known := f.below(prefix)
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := prefix + name.Value
		if line, twice := seen[key]; twice {
			f.fault(name, key, "set twice, first in line %d", line)
			continue
		}
		seen[key] = name.Line
		if s, ok := f.settings[key]; ok {
			if err := s.setNode(value); err != nil {
				f.fault(value, key, "%v", err)
			} else {
				f.loaded.origin[key] = fmt.Sprintf("etc/ctl.yaml:%d", name.Line)
			}
			continue
		}
		if slices.Contains(known, name.Value) {
			if value.Tag != "!!null" { // "tls:" with everything below it commented out
				f.mapping(key+".", value)
			}
			continue
		}
		f.fault(name, key, "no such setting%s", nearest.Hint(name.Value, known))
	}
}

// below are the names that may stand under a prefix.
func (f *fileReader) below(prefix string) []string {
	var out []string
	for _, key := range sortedKeys(f.settings) {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func (l *Loaded) environment(environ []string, settings map[string]setting) []Problem {
	names := shortEnv()
	for key, s := range settings {
		names[s.env()] = key
	}
	var ps []Problem
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "CTL_") || value == "" {
			continue
		}
		key, ok := names[name]
		if !ok {
			if hint, close := nearest.Name(name, sortedKeys(names)); close && !otherEnv(name) {
				ps = append(ps, Problem{File: "environment", Key: name, Warning: true, Text: fmt.Sprintf("not a setting; did you mean %s?", hint)})
			}
			continue
		}
		if err := settings[key].setText(value); err != nil {
			ps = append(ps, Problem{File: "environment", Key: name, Text: err.Error()})
			continue
		}
		l.origin[key] = "env " + name
	}
	return ps
}

// otherEnv are variables that mean something else.
func otherEnv(name string) bool {
	return slices.Contains([]string{"CTL_HOME", "CTL_BIN", "CTL_ADMIN_PASSWORD", "CTL_USER_PASSWORD", "CTL_HOST_SOCKET", "CTL_HOST_TOKEN"}, name) ||
		strings.HasPrefix(name, "CTL_TEST_")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// readBounded reads a file of settings.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("the file has %d bytes, at most %d are read", info.Size(), maxConfig)
	}
	return os.ReadFile(path)
}
