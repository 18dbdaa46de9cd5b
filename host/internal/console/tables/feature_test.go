package tables

import (
	"context"
	"slices"
	"testing"

	"ctl.internal/host/internal/feature"
	"ctl.internal/sdk/fault"
)

// fakeFeatures is a catalogue of three features.
type fakeFeatures struct{ installed []string }

func (f *fakeFeatures) List() []feature.Info {
	all := []feature.Info{
		{Name: "ctl-bier-all", Version: "1.0.0", Available: false, Note: "not yet available", Repository: "ctl", Description: "Bit-indexed explicit replication, everything that belongs to it"},
		{Name: "ctl-switch-all", Version: "1.0.0", Available: true, Repository: "ctl", Description: "Commodity switches",
			Plugins: []string{"switch"}, Facets: []feature.Facet{{Facet: feature.CLI, Plugin: "switch", Commands: []string{"switch:*"}}}, Config: []string{"etc/switch_swdb.csv"}},
	}
	for i := range all {
		all[i].State = feature.Uninstalled
		if all[i].Required = slices.Contains(f.installed, all[i].Name); all[i].Required {
			all[i].State = feature.Started
		}
	}
	return all
}

func (f *fakeFeatures) Info(name, _ string) (feature.Info, error) {
	for _, i := range f.List() {
		if i.Name == name {
			return i, nil
		}
	}
	return feature.Info{}, fault.New(fault.NotFound, "there is no feature %q", name)
}

func (f *fakeFeatures) Versions(name string) ([]feature.Info, error) {
	i, err := f.Info(name, "")
	return []feature.Info{i}, err
}

func (f *fakeFeatures) Names() []string     { return []string{"ctl-bier-all", "ctl-switch-all"} }
func (f *fakeFeatures) Installed() []string { return f.installed }

func (f *fakeFeatures) Requirements() []feature.Requirement {
	var out []feature.Requirement
	for _, n := range f.installed {
		out = append(out, feature.Requirement{Name: n})
	}
	return out
}

func (f *fakeFeatures) Install(_ context.Context, names []string, o feature.InstallOptions) (feature.Change, error) {
	c := feature.Change{}
	for _, n := range names {
		if _, err := f.Info(n, ""); err != nil {
			return c, err
		}
		c.Install = append(c.Install, &feature.Feature{Name: n})
		c.Ensure = append(c.Ensure, feature.PluginSpec{Name: "switch"})
	}
	if !o.Simulate {
		f.installed = append(f.installed, names...)
	}
	return c, nil
}

func (f *fakeFeatures) Uninstall(_ context.Context, names []string, o feature.UninstallOptions) (feature.Change, error) {
	f.installed = slices.DeleteFunc(f.installed, func(n string) bool { return slices.Contains(names, n) })
	return feature.Change{Remove: []string{"switch"}}, nil
}

func (f *fakeFeatures) Start(context.Context, ...string) (feature.Change, error) {
	return feature.Change{}, nil
}
func (f *fakeFeatures) Stop(context.Context, ...string) (feature.Change, error) {
	return feature.Change{Remove: []string{"switch"}}, nil
}
func (f *fakeFeatures) Refresh(context.Context) (feature.Change, error) { return feature.Change{}, nil }
func (f *fakeFeatures) Repositories() []feature.RepoInfo {
	return []feature.RepoInfo{{Name: "ctl", URL: "features.yaml"}, {Name: "mine", URL: "features.d/mine.yaml", Added: true, SignedBy: "UNSIGNED"}}
}
func (f *fakeFeatures) AddRepository(_ context.Context, url string, _ feature.AddOptions) (feature.RepoInfo, feature.Change, error) {
	return feature.RepoInfo{}, feature.Change{}, fault.At(fault.Invalid, url, "it is no catalogue")
}
func (f *fakeFeatures) RemoveRepository(context.Context, string, bool) (feature.Change, error) {
	return feature.Change{}, nil
}

func (f *fakeFeatures) Keys() []feature.KeyInfo {
	return []feature.KeyInfo{{Signer: feature.Signer{ID: "E7620F1842B4E81F", Fingerprint: "SHA256:12", Key: "RWQ"}, By: "ann@sdn", Repositories: []string{"mine"}}}
}
func (f *fakeFeatures) RevokeKey(context.Context, string, string) (feature.Change, error) {
	return feature.Change{Remove: []string{"switch"}}, nil
}
func (f *fakeFeatures) Verify([]string) ([]feature.Verified, error) {
	return []feature.Verified{{Feature: "a", Plugin: "switch", Origin: "catalogue mine, UNSIGNED"},
		{Feature: "b", Plugin: "other", Origin: "catalogue mine, UNSIGNED", SHA256: "0123456789abcdef", Fault: "the file has changed"}}, nil
}

func TestFeatureCommands(t *testing.T) {
	s := session(FeatureCommands(&fakeFeatures{}))
	golden(t, "feature", transcript(s, "",
		"feature:list -i", "feature:list", "feature:list -s | wc -l", "feature:install -t ctl-switch-all", "feature:requirement-list",
		"feature:install ctl-switch-all", "feature:list --required --format json", "feature:info ctl-switch-all", "feature:info ctl-switch",
		"feature:status ctl-switch-all", "feature:version-list ctl-switch-all", "feature:requirement-list", "feature:start -v ctl-switch-all",
		"feature:stop -v ctl-switch-all", "feature:install -v --format json nothing", "feature:uninstall -v ctl-switch-all", "feature:list -r",
		"feature:repo-list", "feature:repo-add /tmp/x.yaml", "feature:repo-remove mine", "feature:repo-refresh -v",
		"feature:key-revoke -v E7620F1842B4E81F", "feature:verify", "feature:verify --format json a"))
	for line, want := range map[string]int{"feature:install ": 1, "feature:info ": 2, "feature:uninstall ": 0, "feature:repo-remove ": 1} {
		if got := s.Complete(context.Background(), line).Candidates; len(valuesOnly(got)) != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
