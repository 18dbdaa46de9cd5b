package feature

import (
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/home"
	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// The states of a feature, as Karaf names them.
const (
	Uninstalled = "Uninstalled"
	Unresolved  = "Unresolved" // required, but it cannot be had; Info.Note says why
	Resolved    = "Resolved"   // installed and stopped
	Started     = "Started"
)

// Info is a feature as feature:list and feature:info show it.
type Info struct {
	Name        string        `json:"name"`
	Version     string        `json:"version"`
	Required    bool          `json:"required"`
	State       string        `json:"state"`
	Repository  string        `json:"repository"`
	Description string        `json:"description"`
	Available   bool          `json:"available"`
	Note        string        `json:"note,omitempty"` // until when it is not available, or why unresolved
	Depends     []Requirement `json:"depends,omitempty"`
	NeededBy    []string      `json:"neededBy,omitempty"` // installed ones
	Conflicts   []Requirement `json:"conflicts,omitempty"`
	Plugins     []string      `json:"plugins,omitempty"`
	Facets      []Facet       `json:"facets,omitempty"`
	Config      []string      `json:"config,omitempty"`
}

// ForCommand names the features of the catalogue that are not started and whose facets name a shell command:
// "scope:name", its whole scope, or the table of the controller that has it.
func (m *Manager) ForCommand(names ...string) []string {
	active := m.Active()
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, f := range m.repo.All() {
		brings := func(facet Facet) bool {
			return facet.Facet == CLI && slices.ContainsFunc(facet.Commands, func(p string) bool {
				return slices.ContainsFunc(names, func(n string) bool {
					return matchesPattern(p, n)
				})
			})
		}
		if f.Ready() &&
			!active.Has(f.Name) &&
			!slices.Contains(out, f.Name) &&
			slices.ContainsFunc(f.Facets, brings) {
			out = append(out, f.Name)
		}
	}
	return out
}

// List returns all features of the catalogue, by name and then highest version
// first.
func (m *Manager) List() []Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Info
	for _, f := range m.repo.All() {
		out = append(out, m.featureInfo(f))
	}
	for _, q := range m.state.Required {
		if len(m.repo.Versions(q.Name)) == 0 { // its repository is gone
			out = append(
				out,
				Info{
					Name:     q.Name,
					Version:  q.Version.String(),
					Required: true,
					State:    Unresolved,
					Note:     m.brokenNote(q.Name),
				},
			)
		}
	}
	return out
}

func (m *Manager) brokenNote(name string) string {
	if err := m.broken[name]; err != nil {
		return err.Error()
	}
	return ""
}

func (m *Manager) featureInfo(f *Feature) Info {
	i := Info{
		Name:        f.Name,
		Version:     f.Version.String(),
		State:       Uninstalled,
		Repository:  f.Repository,
		Description: f.Description,
		Available:   f.Ready(),
		Facets:      f.Facets,
		Config:      f.Config,
	}
	if !f.Ready() {
		i.Note = f.Until
	}
	for _, d := range f.Depends {
		i.Depends = append(i.Depends, d.toRequirement())
	}
	for _, d := range f.Conflicts {
		i.Conflicts = append(i.Conflicts, d.toRequirement())
	}
	for _, p := range f.Plugins {
		i.Plugins = append(i.Plugins, p.Name)
	}
	have := m.plan.Get(f.Name)
	if have != nil && have.Version == f.Version {
		i.Required, i.NeededBy, i.State = m.state.hasRequirement(f.Name), m.plan.NeededBy(f.Name), Resolved
		if m.Active().Has(f.Name) {
			i.State = Started
		}
	} else if have == nil && m.state.hasRequirement(f.Name) {
		i.Required, i.State, i.Note = true, Unresolved, m.brokenNote(f.Name)
	}
	return i
}

// Info returns one feature: the version given, else the installed one, else the
// highest.
func (m *Manager) Info(name, version string) (Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.findFeature(name, version)
	if err != nil {
		return Info{}, err
	}
	return m.featureInfo(f), nil
}

func (m *Manager) findFeature(name, version string) (*Feature, error) {
	all := m.repo.Versions(name)
	if len(all) == 0 {
		return nil, fault.New(
			fault.NotFound,
			"there is no feature %q%s",
			name,
			nearest.Hint(name, m.repo.Names()),
		)
	}
	if version == "" {
		if f := m.plan.Get(name); f != nil {
			return f, nil
		}
		return all[0], nil
	}
	v, err := ParseVersion(version)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	if f := firstFitting(all, func(f *Feature) bool { return f.Version == v }); f != nil {
		return f, nil
	}
	return nil, fault.New(
		fault.NotFound,
		"feature %s has no version %s; there is %s",
		name,
		v,
		m.repo.versionsText(name),
	)
}

// Versions returns all versions of a feature, highest first.
func (m *Manager) Versions(name string) ([]Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.findFeature(name, ""); err != nil {
		return nil, err
	}
	var out []Info
	for _, f := range m.repo.Versions(name) {
		out = append(out, m.featureInfo(f))
	}
	return out, nil
}

// Names returns the features' names for completion.
func (m *Manager) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.repo.Names()
}

// Installed returns the names of what is installed, dependencies first.
func (m *Manager) Installed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.installedNames()
}

// Requirements returns what is required by itself, in order of installation.
func (m *Manager) Requirements() []Requirement {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.state.Required)
}

// Problems are those of repositories that were left out.
func (m *Manager) Problems() []home.Problem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.problems)
}

// RepoInfo is a repository as feature:repo-list shows it.
type RepoInfo struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Added bool   `json:"added"` // with repo-add, so that repo-remove can take it away
	// SignedBy is the ID of the key of an added one, or "UNSIGNED".
	SignedBy string `json:"signedBy,omitempty"`
	Note     string `json:"note,omitempty"` // why it is left out, or that it has expired
}

// pluginOrigin is who answers for the plugins of a catalogue, for people.
func (m *Manager) pluginOrigin(repository string) string {
	r, ok := m.added.repos[repository]
	switch {
	case !ok:
		return "catalogue " + repository + " of the home"
	case r.Key == "":
		return "catalogue " + repository + ", " + unsigned
	}
	return "catalogue " + repository + ", signed with the key " + r.signedBy()
}

// Repositories lists the files the catalogue comes from.
func (m *Manager) Repositories() []RepoInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []RepoInfo
	for _, r := range m.repo.repos {
		if _, more := m.added.repos[r.Name]; more {
			continue
		}
		out = append(out, RepoInfo{Name: r.Name, URL: r.URL})
	}
	for name, r := range m.added.repos {
		i := RepoInfo{
			Name:     name,
			URL:      r.URL,
			Added:    true,
			SignedBy: r.signedBy(),
		}
		file := m.repo.Repository(name)
		switch {
		case file == nil:
			i.Note = "left out"
			for _, p := range m.problems {
				if p.Key == name || p.File == r.URL {
					i.Note = "left out: " + p.Text
				}
			}
		case file.isExpired(time.Now()):
			i.Note = "expired on " + file.Expires.Format(time.DateOnly) + ": ask its author for a newer one"
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b RepoInfo) int {
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
