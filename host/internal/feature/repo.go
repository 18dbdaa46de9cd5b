package feature

import (
	"maps"
	"slices"
	"strings"
)

// Repo is all known features.
type Repo struct {
	repos  []*Repository
	byName map[string][]*Feature // highest version first
}

// NewRepo joins repositories. Of the same name and version the first counts.
func NewRepo(repos ...*Repository) Repo {
	r := Repo{repos: repos, byName: map[string][]*Feature{}}
	for _, repo := range repos {
		for _, f := range repo.Features {
			same := func(o *Feature) bool { return o.Version == f.Version }
			if !slices.ContainsFunc(r.byName[f.Name], same) {
				r.byName[f.Name] = append(r.byName[f.Name], f)
			}
		}
	}
	for _, fs := range r.byName {
		slices.SortFunc(fs, func(a, b *Feature) int {
			return b.Version.Compare(a.Version)
		})
	}
	return r
}

// Versions returns the versions of a feature, highest first.
func (r Repo) Versions(name string) []*Feature {
	return r.byName[name]
}

// Names returns all names in order.
func (r Repo) Names() []string {
	return slices.Sorted(maps.Keys(r.byName))
}

// All returns all features by name, then highest version first.
func (r Repo) All() []*Feature {
	var out []*Feature
	for _, n := range r.Names() {
		out = append(out, r.byName[n]...)
	}
	return out
}

// Repository returns the file of a name, nil when there is none.
func (r Repo) Repository(name string) *Repository {
	if i := slices.IndexFunc(r.repos, func(o *Repository) bool {
		return o.Name == name
	}); i >= 0 {
		return r.repos[i]
	}
	return nil
}

// Find returns the highest version that meets a requirement, nil when none does.
func (r Repo) Find(q Requirement) *Feature {
	return firstFitting(r.byName[q.Name], func(f *Feature) bool {
		return q.Version.Contains(f.Version)
	})
}

// versionsText lists the versions of a feature for an error.
func (r Repo) versionsText(name string) string {
	var out []string
	for _, f := range r.byName[name] {
		out = append(out, f.Version.String())
	}
	return strings.Join(out, ", ")
}
