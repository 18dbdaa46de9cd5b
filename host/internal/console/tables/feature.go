package tables

import (
	"context"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/sdk/commands"
)

// Features is the catalogue and what is installed of it, package feature's Manager.
type Features interface {
	List() []feature.Info
	Info(name, version string) (feature.Info, error)
	Versions(name string) ([]feature.Info, error)
	Names() []string
	Installed() []string
	Requirements() []feature.Requirement
	Install(ctx context.Context, names []string, o feature.InstallOptions) (feature.Change, error)
	Uninstall(ctx context.Context, names []string, o feature.UninstallOptions) (feature.Change, error)
	Start(ctx context.Context, names ...string) (feature.Change, error)
	Stop(ctx context.Context, names ...string) (feature.Change, error)
	Repositories() []feature.RepoInfo
	AddRepository(ctx context.Context, url string, o feature.AddOptions) (feature.RepoInfo, feature.Change, error)
	RemoveRepository(ctx context.Context, name string, uninstall bool) (feature.Change, error)
	Refresh(ctx context.Context) (feature.Change, error)
	Keys() []feature.KeyInfo
	RevokeKey(ctx context.Context, id, by string) (feature.Change, error)
	Verify(names []string) ([]feature.Verified, error)
}

// FeatureCommands are feature:*.
func FeatureCommands(f Features) []commands.Command {
	t := features{f}
	return []commands.Command{
		t.list(), t.info(), t.install(), t.uninstall(), t.start(), t.stop(), t.status(), t.versionList(),
		t.requirementList(), t.repoList(), t.repoAdd(), t.repoRemove(), t.repoRefresh(),
		t.keyList(), t.keyRevoke(), t.verify(),
	}
}

type features struct{ Features }

func (t features) one(list func() []string) commands.Argument {
	return commands.Argument{Name: "name", Help: "the feature: NAME or NAME/VERSION", Required: true, Complete: names(list)}
}

func (t features) several(list func() []string) commands.Argument {
	return commands.Argument{Name: "name", Help: "the features: NAME or NAME/VERSION", Required: true, Repeated: true, Complete: names(list)}
}

// notRequired is what feature:install can add.
func (t features) notRequired() []string {
	var out []string
	for _, f := range t.List() {
		if !f.Required && !f.Hidden && f.Available {
			out = append(out, f.Name)
		}
	}
	return out
}

func (t features) required() []string {
	var out []string
	for _, q := range t.Requirements() {
		out = append(out, q.Name)
	}
	return out
}

func (t features) find(name string) (feature.Info, error) {
	base, version, _ := strings.Cut(name, "/")
	return t.Info(base, version)
}
