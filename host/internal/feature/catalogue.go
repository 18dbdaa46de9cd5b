package feature

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
)

// Feature is an entry of the catalogue. It never changes once it is parsed.
type Feature struct {
	Name        string       `yaml:"name"`
	VersionText string       `yaml:"version"`
	Description string       `yaml:"description"`
	Hidden      bool         `yaml:"hidden"`
	Install     string       `yaml:"install"` // manual (default), or auto: with its repository
	Boot        bool         `yaml:"boot"`    // installed at the very first start
	Available   *bool        `yaml:"available"`
	Until       string       `yaml:"until"` // why it is not available yet
	Depends     []Dependency `yaml:"depends"`
	Conflicts   []Dependency `yaml:"conflicts"`
	Plugins     []PluginRef  `yaml:"plugins"`
	Facets      []Facet      `yaml:"facets"`
	Config      []string     `yaml:"config"` // files under the home that uninstall -c deletes

	Version    Version `yaml:"-"`
	Repository string  `yaml:"-"`
}

// ID is NAME/VERSION.
func (f *Feature) ID() string { return f.Name + "/" + f.Version.String() }

// Ready reports whether the parts of the feature exist in this release.
func (f *Feature) Ready() bool { return f.Available == nil || *f.Available }

// Dependency names other features: a name alone, or with a range of versions.
type Dependency struct {
	Name    string
	Version Range
}

// UnmarshalYAML reads NAME or {name: NAME, version: RANGE}.
func (d *Dependency) UnmarshalYAML(n *yaml.Node) error {
	fail := func(at *yaml.Node, err error) error { return fmt.Errorf("line %d: %w", at.Line, err) }
	if n.Kind == yaml.ScalarNode {
		d.Name = n.Value
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			value := n.Content[i+1]
			switch n.Content[i].Value {
			case "name":
				d.Name = value.Value
			case "version":
				r, err := ParseRange(value.Value)
				if err != nil {
					return fail(value, err)
				}
				d.Version = r
			default:
				return fail(n.Content[i], fmt.Errorf("a dependency has name and version, not %q", n.Content[i].Value))
			}
		}
	}
	if err := checkName(d.Name); err != nil {
		return fail(n, err)
	}
	return nil
}

// PluginRef is a plugin that a feature runs.
type PluginRef struct {
	Name   string   `yaml:"name"`   // of the executable in the plugin directories
	SHA256 string   `yaml:"sha256"` // of that file, in hex; empty = as SHA256SUMS beside it says
	Args   []string `yaml:"args"`
	// Files are the sha256 of files beside the program that it reads, as a script does; each is checked before a start.
	Files map[string]string `yaml:"files"`
	// Grants are those that the catalogue of the home gives a plugin; a repository that was added cannot give any.
	Grants []string `yaml:"grants"`

	granted []grant.Grant
}

// Facet is one side of a plugin that a feature switches on. Without a feature
// that does, the RPCs of a plugin are not under RESTCONF, its commands not in the
// shell, its modules not in the explorer.
type Facet struct {
	Facet    string   `yaml:"facet" json:"facet"`                 // rest, cli or ui
	Plugin   string   `yaml:"plugin" json:"plugin"`               // "host" = the controller itself
	Modules  []string `yaml:"modules" json:"modules,omitempty"`   // rest and ui; none = all
	Commands []string `yaml:"commands" json:"commands,omitempty"` // cli: "scope:name", "scope:*", or a table of the host; none = all
}

// The facets.
const (
	Rest = "rest"
	CLI  = "cli"
	UI   = "ui"
)

// HostPlugin stands for the controller itself in a Facet.
const HostPlugin = "host"

// Repository is one file of features.
type Repository struct {
	Name     string
	URL      string // where it was read
	Features []*Feature
	Serial   int       // of a catalogue, never falls
	Expires  time.Time // zero = never
	Revoked  []revocation
}

// repoFile is the form of features.yaml and features.d/*.yaml.
type repoFile struct {
	Name     string       `yaml:"name"`
	Serial   int          `yaml:"serial"`
	Expires  string       `yaml:"expires"`
	Revoked  []revocation `yaml:"revoked"`
	Features []Feature    `yaml:"features"`
}

// topMember finds the members that make a file a catalogue.
var topMember = regexp.MustCompile(`(?m)^(name|features):`)

// ParseRepository reads a file of features; every fault has its line.
func ParseRepository(path string, b []byte) (*Repository, []home.Problem) {
	var file repoFile
	if ps := home.Decode(path, b, &file); len(ps) > 0 {
		if !topMember.Match(b) { // the text of another file is nobody's to see
			ps = []home.Problem{{File: path, Text: "this is not a catalogue of features: it has neither `name:` nor `features:`"}}
		}
		return nil, ps
	}
	var ps []home.Problem
	fault := func(key, format string, args ...any) {
		ps = append(ps, home.Problem{File: path, Line: lineOf(b, key), Key: key, Text: fmt.Sprintf(format, args...)})
	}
	if err := checkName(file.Name); err != nil {
		fault("name", "the repository needs a name: %v", err)
	}
	r := &Repository{Name: file.Name, URL: path, Serial: file.Serial, Revoked: file.Revoked}
	if file.Expires != "" {
		var err error
		if r.Expires, err = time.Parse(time.DateOnly, file.Expires); err != nil {
			fault("expires", "expires: %q is no date such as 2027-06-30", file.Expires)
		}
	}
	for _, v := range r.Revoked {
		if !isSHA256(v.SHA256) || v.Why == "" {
			fault("revoked", "revoked: each entry needs the sha256 of a file, in 64 hexadecimal digits, and why")
		}
	}
	seen := map[string]bool{}
	for i := range file.Features {
		f := &file.Features[i]
		for _, err := range f.check() {
			fault(f.Name, "%v", err)
		}
		f.Repository = file.Name
		if seen[f.ID()] {
			fault(f.Name, "version %s is there twice", f.Version)
		}
		seen[f.ID()] = true
		r.Features = append(r.Features, f)
	}
	if len(ps) > 0 {
		return nil, ps
	}
	return r, nil
}

func (f *Feature) check() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := checkName(f.Name); err != nil {
		errs = append(errs, err)
	}
	v, err := ParseVersion(f.VersionText)
	if err != nil {
		bad("version: %v", err)
	}
	f.Version = v
	switch f.Install {
	case "":
		f.Install = "manual"
	case "auto", "manual":
	default:
		bad("install: %q is neither auto nor manual", f.Install)
	}
	if !f.Ready() && f.Until == "" {
		bad("available: false needs `until`, what it waits for")
	}
	for i := range f.Plugins {
		p := &f.Plugins[i]
		for _, text := range p.Grants {
			g, err := grant.Parse(text)
			if err != nil {
				bad("plugins: grants of %s: %w", p.Name, err)
			}
			p.granted = append(p.granted, g)
		}
		if err := checkName(p.Name); err != nil || p.Name == HostPlugin {
			bad("plugins: %q is not a plugin's name", p.Name)
		}
		if p.SHA256 != "" && !isSHA256(p.SHA256) {
			bad("plugins: the sha256 of %s is not 64 hexadecimal digits", p.Name)
		}
		for file, sum := range p.Files {
			if !filepath.IsLocal(file) || !isSHA256(sum) {
				bad("plugins: files of %s: %q must be below the directory of the program, with its sha256 in 64 hexadecimal digits", p.Name, file)
			}
		}
	}
	for _, x := range f.Facets {
		if !slices.Contains([]string{Rest, CLI, UI}, x.Facet) {
			bad("facets: %q is none of rest, cli, ui", x.Facet)
		}
		if x.Plugin == "" {
			bad("facets: %s names no plugin", x.Facet)
		}
	}
	for _, c := range f.Config {
		if !strings.HasPrefix(c, "etc/") || strings.Contains(c, "..") {
			bad("config: %q is not a file under etc/", c)
		}
	}
	return errs
}

func isSHA256(s string) bool {
	if len(s) != 64 {
		return false
	}
	return strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// lineOf finds where a feature begins, for faults found after parsing.
func lineOf(b []byte, name string) int {
	for i, l := range strings.Split(string(b), "\n") {
		if fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(l), "- ")); len(fields) == 2 && fields[0] == "name:" && fields[1] == name {
			return i + 1
		}
	}
	return 0
}
