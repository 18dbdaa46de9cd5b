package feature

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/grant"
	"ctl.internal/sdk/fault"
)

// PluginSpec is a plugin to run, as the supervisor needs to know it.
type PluginSpec struct {
	Name   string
	Path   string            // of the executable
	SHA256 string            // in hex; empty = not checked
	Args   []string          // after the program's name
	Facets []string          // kinds that are on for it, in order: cli, rest, ui
	Files  map[string]string // sha256 of what it reads beside its program, by name
	// Repository is the catalogue that names it, and Origin who answers for that.
	Repository, Origin string
	// Held are the decisions about what it requests. They make no other process.
	Held grant.Held
}

// Equal reports whether the running process would be the same.
func (p PluginSpec) Equal(o PluginSpec) bool {
	return p.Name == o.Name && p.Path == o.Path && strings.EqualFold(p.SHA256, o.SHA256) &&
		slices.Equal(p.Args, o.Args) && slices.Equal(p.Facets, o.Facets) && maps.Equal(p.Files, o.Files)
}

// Target is what a plan with some features stopped makes run. It never changes.
type Target struct {
	Features []*Feature // started ones, dependencies first
	Plugins  []PluginSpec
	facets   []Facet
}

// NewTarget works out what runs. locate finds a plugin's executable and its
// checksum; it is asked once for each plugin.
func NewTarget(
	plan Plan,
	stopped []string,
	locate func(name string) (path, sha256 string, err error),
) (Target, error) {
	var t Target
	at := map[string]int{}
	from := map[string]*Feature{}
	for _, f := range plan.Features {
		if slices.Contains(stopped, f.Name) {
			continue
		}
		t.Features = append(t.Features, f)
		t.facets = append(t.facets, f.Facets...)
		for _, ref := range f.Plugins {
			spec := PluginSpec{
				Name:       ref.Name,
				SHA256:     strings.ToLower(ref.SHA256),
				Args:       ref.Args,
				Files:      ref.Files,
				Repository: f.Repository,
			}
			if i, ok := at[ref.Name]; ok {
				if err := mergeSpecs(&t.Plugins[i], spec, from[ref.Name], f); err != nil {
					return Target{}, err
				}
				continue
			}
			path, sum, err := locate(ref.Name)
			if err != nil {
				return Target{}, fault.Wrap(fault.NotFound, err, "feature %s: %v", f.Name, err)
			}
			spec.Path = path
			if spec.SHA256 == "" {
				spec.SHA256 = sum
			}
			at[ref.Name], from[ref.Name] = len(t.Plugins), f
			t.Plugins = append(t.Plugins, spec)
		}
	}
	for i := range t.Plugins {
		t.Plugins[i].Facets = t.facetKinds(t.Plugins[i].Name)
	}
	return t, nil
}

// mergeSpecs lets several features run one plugin, if they agree how.
func mergeSpecs(have *PluginSpec, more PluginSpec, first, second *Feature) error {
	if len(more.Args) > 0 && len(have.Args) > 0 && !slices.Equal(have.Args, more.Args) {
		return fault.New(
			fault.Invalid,
			"features %s and %s start plugin %s with different arguments",
			first.Name,
			second.Name,
			have.Name,
		)
	}
	if more.SHA256 != "" && !strings.EqualFold(have.SHA256, more.SHA256) {
		return fault.New(
			fault.Invalid,
			"features %s and %s name different files for plugin %s",
			first.Name,
			second.Name,
			have.Name,
		)
	}
	if len(have.Args) == 0 {
		have.Args = more.Args
	}
	return nil
}

// Has reports whether a feature is started.
func (t Target) Has(name string) bool {
	return slices.ContainsFunc(t.Features, func(f *Feature) bool {
		return f.Name == name
	})
}

// Rest reports whether the RPCs of a plugin's module are under RESTCONF.
func (t Target) Rest(plugin, module string) bool {
	return t.isFacetOn(Rest, plugin, module, Facet.modules)
}

// UI reports whether a plugin's module is in the explorer.
func (t Target) UI(plugin, module string) bool {
	return t.isFacetOn(UI, plugin, module, Facet.modules)
}

// CLI reports whether a plugin's command "scope:name" is in the shell.
func (t Target) CLI(plugin, command string) bool {
	return t.isFacetOn(CLI, plugin, command, func(f Facet) []string { return f.Commands })
}

func (f Facet) modules() []string { return f.Modules }

func (t Target) isFacetOn(kind, plugin, item string, items func(Facet) []string) bool {
	for _, f := range t.facets {
		if f.Facet != kind || f.Plugin != plugin {
			continue
		}
		list := items(f)
		if len(list) == 0 ||
			slices.ContainsFunc(list, func(p string) bool {
				return matchesPattern(p, item)
			}) {
			return true
		}
	}
	return false
}

// matchesPattern compares a name with one of a facet, which may end with *.
func matchesPattern(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

func (t Target) facetKinds(plugin string) []string {
	var out []string
	for _, f := range t.facets {
		if f.Plugin == plugin && !slices.Contains(out, f.Facet) {
			out = append(out, f.Facet)
		}
	}
	slices.Sort(out)
	return out
}

// Change is the difference between what runs and what is to run.
type Change struct {
	Install   []*Feature   // new ones, dependencies first
	Uninstall []*Feature   // those that go, dependants first
	Upgrade   []*Feature   // with another version than before
	Ensure    []PluginSpec // plugins to start, or to replace
	Remove    []string     // plugins to stop
	Stay      []string     // why features that were uninstalled stay: others need them
}

// Empty reports whether nothing changes.
func (c Change) Empty() bool {
	return len(c.Install)+len(c.Uninstall)+len(c.Upgrade)+len(c.Ensure)+len(c.Remove) == 0
}

// Lines says the change in words, for feature:install -t.
func (c Change) Lines() []string {
	var out []string
	add := func(what string, f []*Feature) {
		for _, f := range f {
			out = append(out, fmt.Sprintf("%s feature %s", what, f.ID()))
		}
	}
	add("install", c.Install)
	add("replace", c.Upgrade)
	for _, p := range c.Ensure {
		out = append(out, "run plugin "+p.Name)
	}
	for _, p := range c.Remove {
		out = append(out, "stop plugin "+p)
	}
	add("uninstall", c.Uninstall)
	return out
}

// Diff compares two plans and what they make run.
func Diff(oldPlan, newPlan Plan, oldTarget, newTarget Target) Change {
	var c Change
	for _, f := range newPlan.Features {
		switch old := oldPlan.Get(f.Name); {
		case old == nil:
			c.Install = append(c.Install, f)
		case old.Version != f.Version:
			c.Upgrade = append(c.Upgrade, f)
		}
	}
	for _, f := range slices.Backward(oldPlan.Features) {
		if newPlan.Get(f.Name) == nil {
			c.Uninstall = append(c.Uninstall, f)
		}
	}
	running := map[string]PluginSpec{}
	for _, p := range oldTarget.Plugins {
		running[p.Name] = p
	}
	for _, p := range newTarget.Plugins {
		have, ok := running[p.Name]
		if !ok || !have.Equal(p) {
			c.Ensure = append(c.Ensure, p)
		}
		delete(running, p.Name)
	}
	for _, p := range slices.Backward(oldTarget.Plugins) {
		if _, left := running[p.Name]; left {
			c.Remove = append(c.Remove, p.Name)
		}
	}
	return c
}
