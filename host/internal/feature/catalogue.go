package feature

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
)

// Feature is an entry of the catalogue. It never changes once it is parsed.
type Feature struct {
	Name        string       `json:"name"`
	VersionText string       `json:"version"`
	Description string       `json:"description"`
	Boot        bool         `json:"boot"` // installed at the very first start
	Available   *bool        `json:"available"`
	Until       string       `json:"until"` // why it is not available yet
	Depends     []Dependency `json:"depends"`
	Conflicts   []Dependency `json:"conflicts"`
	Plugins     []PluginRef  `json:"plugins"`
	Facets      []Facet      `json:"facets"`
	Config      []string     `json:"config"` // files under the home that uninstall -c deletes

	Version    Version `json:"-"`
	Repository string  `json:"-"`
}

// ID is NAME/VERSION.
func (f *Feature) ID() string {
	return f.Name + "/" + f.Version.String()
}

// Ready reports whether the parts of the feature exist in this release.
func (f *Feature) Ready() bool {
	return f.Available == nil || *f.Available
}

// Dependency names other features: a name alone, or with a range of versions.
type Dependency struct {
	Name        string `json:"name"`
	VersionText string `json:"version"`
	Version     Range  `json:"-"`
}

func (d Dependency) toRequirement() Requirement {
	return Requirement{d.Name, d.Version}
}

// UnmarshalJSON reads NAME or {name: NAME, version: RANGE}.
func (d *Dependency) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, &d.Name)
	}
	type object Dependency
	return json.Unmarshal(b, (*object)(d))
}

// PluginRef is a plugin that a feature runs.
type PluginRef struct {
	Name   string   `json:"name"`   // of the executable in the plugin directories
	SHA256 string   `json:"sha256"` // of that file, in hex; empty = as SHA256SUMS beside it says
	Args   []string `json:"args"`
	// Files are the sha256 of files beside the program that it reads, as a script does; each is checked before a start.
	Files map[string]string `json:"files"`
	// Grants are those that the catalogue of the home gives a plugin; a repository that was added cannot give any.
	Grants []string `json:"grants"`

	granted []grant.Grant
}

// Facet is one side of a plugin that a feature switches on. Without a feature
// that does, the RPCs of a plugin are not under RESTCONF, its commands not in the
// shell, its modules not in the explorer.
type Facet struct {
	Facet    string   `json:"facet"`              // rest, cli or ui
	Plugin   string   `json:"plugin"`             // "host" = the controller itself
	Modules  []string `json:"modules,omitempty"`  // rest and ui; none = all
	Commands []string `json:"commands,omitempty"` // cli: "scope:name", "scope:*", or a table of the host; none = all
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
	Name     string       `json:"name"`
	Serial   int          `json:"serial"`
	Expires  string       `json:"expires"`
	Revoked  []revocation `json:"revoked"`
	Features []Feature    `json:"features"`
}

// topMember finds the members that make a file a catalogue.
var topMember = regexp.MustCompile(`(?m)^(name|features):`)

//go:embed catalogue.schema.json
var catalogueSchema []byte

// ParseRepository reads a file of features; every fault has its line.
func ParseRepository(path string, b []byte) (*Repository, []home.Problem) {
	d := home.ReadDocument(path, b, catalogueSchema)
	if len(d.Problems()) > 0 && !topMember.Match(b) { // the text of another file is not quoted
		return nil, []home.Problem{{
			File: path,
			Text: "this is not a catalogue of features: it has neither `name:` nor `features:`",
		}}
	}
	if len(d.Problems()) > 0 {
		return nil, d.Problems()
	}
	var file repoFile
	if err := json.Unmarshal(d.JSON, &file); err != nil {
		return nil, []home.Problem{{
			File: path,
			Text: err.Error(),
		}}
	}
	r := &Repository{
		Name:    file.Name,
		URL:     path,
		Serial:  file.Serial,
		Revoked: file.Revoked,
	}
	if file.Expires != "" {
		var err error
		if r.Expires, err = time.Parse(time.DateOnly, file.Expires); err != nil {
			d.Fault("expires", "%q is not a date such as 2027-06-30", file.Expires)
		}
	}
	seen := map[string]bool{}
	for i := range file.Features {
		f, at := &file.Features[i], fmt.Sprint("features.", i)
		f.checkFeature(func(member, format string, args ...any) {
			d.Fault(at+"."+member, format, args...)
		})
		f.Repository = file.Name
		if seen[f.ID()] {
			d.Fault(at, "%s occurs twice", f.ID())
		}
		seen[f.ID()] = true
		r.Features = append(r.Features, f)
	}
	if len(d.Problems()) > 0 {
		return nil, d.Problems()
	}
	return r, nil
}

// checkFeature reports what is wrong beyond the schema, each with the member where it is, and reads versions and grants.
func (f *Feature) checkFeature(bad func(member, format string, args ...any)) {
	var err error
	if f.Version, err = ParseVersion(f.VersionText); err != nil {
		bad("version", "%v", err)
	}
	for member, list := range map[string][]Dependency{
		"depends":   f.Depends,
		"conflicts": f.Conflicts,
	} {
		for i := range list {
			x, at := &list[i], fmt.Sprint(member, ".", i)
			if x.VersionText == "" {
				continue
			}
			if x.Version, err = ParseRange(x.VersionText); err != nil {
				bad(at+".version", "%v", err)
			}
		}
	}
	if !f.Ready() && f.Until == "" {
		bad("available", "false needs `until`, what it waits for")
	}
	for i := range f.Plugins {
		p, at := &f.Plugins[i], fmt.Sprint("plugins.", i)
		for _, text := range p.Grants {
			g, err := grant.Parse(text)
			if err != nil {
				bad(at+".grants", "%v", err)
			}
			p.granted = append(p.granted, g)
		}
		if p.Name == HostPlugin {
			bad(at+".name", "%q is not a plugin's name: it is the controller itself", p.Name)
		}
		for file := range p.Files {
			if !filepath.IsLocal(file) {
				bad(at+".files", "%q must be below the directory of the program", file)
			}
		}
	}
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}
