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
	installed := newNameCompleter(t.Installed)
	free := eachName(t.List, func(f feature.Info) (string, bool) {
		return f.Name, !f.Required && f.Available
	})
	required := eachName(t.Requirements, func(q feature.Requirement) (string, bool) {
		return q.Name, true
	})
	some := t.namesArgument(installed)
	some.Required = false
	return []commands.Command{
		{
			Name:    "feature:list",
			Summary: "list the features",
			Safe:    true,
			Run:     t.listFeatures,
			Help:    "Required shows what was asked for; other installed features came along because one of these needs them.",
			Options: []commands.Option{
				boolOption("installed", "i", "only those that are installed"),
				boolOption("required", "r", "only those that were asked for"),
				boolOption("ordered", "o", "by name; they always are"),
				boolOption("show-hidden", "s", "as in Karaf; no feature is hidden here"),
			},
		},
		{
			Name:      "feature:info",
			Summary:   "show what a feature is made of",
			Safe:      true,
			Run:       t.showInfo,
			Arguments: []commands.Argument{t.nameArgument()},
		},
		{
			Name:    "feature:install",
			Summary: "install features and what they need",
			Run:     t.installFeatures,
			Help: "feature:install ctl-switch-all\nfeature:install -t ctl-bier-all\nWhat is installed already stays as it is. Several features are installed together or not at all.\n" +
				"A plugin that requests more than to serve its own is shown with its requests, and you are asked; plugin:revoke takes a grant back.",
			Options: []commands.Option{simulateOption, verboseOption, boolOption("no-start", "s", "do not start what is new"),
				boolOption(
					"grant",
					"g",
					"grant the plugins all that they request, without asking",
				)},
			Arguments: []commands.Argument{t.namesArgument(free)},
		},
		{
			Name:    "feature:uninstall",
			Summary: "uninstall features and what nothing else needs",
			Run:     t.uninstallFeatures,
			Help:    "A feature that came along with another goes with the last that needs it; it cannot be uninstalled by itself.",
			Options: []commands.Option{simulateOption, verboseOption, boolOption(
				"clean",
				"c",
				"also delete the settings files of what goes",
			)},
			Arguments: []commands.Argument{t.namesArgument(required)},
		},
		{
			Name:      "feature:start",
			Summary:   "start features that were stopped, and what they need",
			Run:       t.featuresAction("starting", f.Start),
			Options:   []commands.Option{verboseOption},
			Arguments: []commands.Argument{t.namesArgument(installed)},
		},
		{
			Name:      "feature:stop",
			Summary:   "stop features without uninstalling them",
			Run:       t.featuresAction("stopping", f.Stop),
			Help:      "Their plugins end unless another feature needs them; feature:start brings them back.",
			Options:   []commands.Option{verboseOption},
			Arguments: []commands.Argument{t.namesArgument(installed)},
		},
		{
			Name:      "feature:status",
			Summary:   "show the state of a feature",
			Safe:      true,
			Run:       t.showStatus,
			Arguments: []commands.Argument{t.nameArgument()},
		},
		{
			Name:      "feature:version-list",
			Summary:   "list the versions of a feature",
			Safe:      true,
			Run:       t.versionList,
			Arguments: []commands.Argument{t.nameArgument()},
		},

		{
			Name:    "feature:requirement-list",
			Summary: "list the features that were asked for",
			Safe:    true,
			Run:     t.requirementList,
		},
		{
			Name:    "feature:repo-list",
			Summary: "list the files of the catalogue",
			Safe:    true,
			Run:     t.repoList,
		},
		{
			Name:    "feature:repo-add",
			Summary: "add a file of features to the catalogue",
			Run:     t.repoAdd,
			Help: "feature:repo-add /tmp/acme.yaml\nThe file is read at once; a fault in it is an error and adds nothing. Its author signs it with minisign: the signature is\n" +
				"beside it, as FILE.minisig. A key that is not trusted yet is shown, and you are asked; scripts name it with --key.",
			Options: []commands.Option{verboseOption, boolOption("install", "i", "install all its features"),
				{
					Name:  "key",
					Short: "k",
					Help:  "public key of the author, in minisign's form (RW...), to trust without asking",
					Type:  commands.String,
				},
				boolOption(
					"unsigned",
					"u",
					"add a file without a signature; feature:repo-list and plugin:info show that",
				)},
			Arguments: []commands.Argument{{
				Name:     "url",
				Help:     "path of the file, or file:// address",
				Type:     commands.File,
				Required: true,
				Beside:   []string{".minisig", ".pub"},
			}},
		},
		{
			Name:    "feature:repo-remove",
			Summary: "remove a file that was added to the catalogue",
			Run:     t.repoRemove,
			Options: []commands.Option{verboseOption, boolOption(
				"uninstall-all",
				"u",
				"uninstall its features first",
			)},
			Arguments: []commands.Argument{{
				Name:     "repository",
				Help:     "its name",
				Required: true,
				Complete: eachName(t.Repositories, func(r feature.RepoInfo) (string, bool) {
					return r.Name, r.Added
				}),
			}},
		},
		{
			Name:    "feature:repo-refresh",
			Summary: "read the files of the catalogue again",
			Run:     t.repoRefresh,
			Options: []commands.Option{verboseOption},
		},

		{
			Name:    "feature:key-list",
			Summary: "list the public keys of catalogues that were trusted or revoked",
			Safe:    true,
			Run:     t.keyList,
		},
		{
			Name:    "feature:key-revoke",
			Summary: "end the trust in a public key of catalogues",
			Run:     t.keyRevoke,
			Help:    "The features of its catalogues are not run any more, on all nodes, from now on. feature:repo-add --key trusts it again.",
			Options: []commands.Option{verboseOption},
			Arguments: []commands.Argument{{
				Name:     "key",
				Help:     "its ID",
				Required: true,
				Complete: eachName(t.Keys, func(k feature.KeyInfo) (string, bool) {
					return k.ID, !k.Revoked
				}),
			}},
		},
		{
			Name:    "feature:verify",
			Summary: "check signatures, checksums and running programs of features",
			Safe:    true,
			Run:     t.verifyPlugins,
			Help: "For each plugin of a started feature: the signature of its catalogue and the trust in the key, the checksum of its file, and\n" +
				"that its process runs that file. Ends with an error when something is not as it should be.",
			Arguments: []commands.Argument{some},
		},
	}
}

type features struct{ Features }

func (t features) nameArgument() commands.Argument {
	return commands.Argument{
		Name:     "name",
		Help:     "the feature: NAME or NAME/VERSION",
		Required: true,
		Complete: newNameCompleter(t.Names),
	}
}

func (t features) namesArgument(complete func(context.Context, string) []string) commands.Argument {
	return commands.Argument{
		Name:     "name",
		Help:     "the features: NAME or NAME/VERSION",
		Required: true,
		Repeated: true,
		Complete: complete,
	}
}

func (t features) findFeature(name string) (feature.Info, error) {
	base, version, _ := strings.Cut(name, "/")
	return t.Info(base, version)
}
