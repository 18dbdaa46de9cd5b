package tables

import (
	"context"

	"ctl.internal/host/internal/feature"
	"ctl.internal/sdk/commands"
)

func (t features) repoList() commands.Command {
	return commands.Command{
		Name: "feature:repo-list", Summary: "list the files of the catalogue", Safe: true,
		Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Empty: "No repositories", Columns: []commands.Column{{Title: "Repository", Key: "name"}, {Title: "URL", Key: "url"}, {Title: "Added", Key: "added"}}}
			for _, r := range t.Repositories() {
				out.Add(r.Name, r.URL, mark(in, r.Added))
			}
			return in.Emit(out, nil)
		},
	}
}

func (t features) repoAdd() commands.Command {
	return commands.Command{
		Name: "feature:repo-add", Summary: "add a file of features to the catalogue",
		Help:      "The file is read at once; a fault in it is an error and adds nothing.",
		Options:   []commands.Option{verboseOption, boolOption("install", "i", "install all its features")},
		Arguments: []commands.Argument{{Name: "url", Help: "path of the file, or file:// address", Type: commands.File, Required: true}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "adding "+in.Arg("url"), func() (feature.Change, error) {
				_, c, err := t.AddRepository(ctx, in.Arg("url"), in.Flag("install"))
				return c, err
			})
		},
	}
}

func (t features) repoRemove() commands.Command {
	return commands.Command{
		Name: "feature:repo-remove", Summary: "remove a file that was added to the catalogue",
		Options: []commands.Option{verboseOption, boolOption("uninstall-all", "u", "uninstall its features first")},
		Arguments: []commands.Argument{{Name: "repository", Help: "its name", Required: true, Complete: names(func() []string {
			var out []string
			for _, r := range t.Repositories() {
				if r.Added {
					out = append(out, r.Name)
				}
			}
			return out
		})}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "removing "+in.Arg("repository"), func() (feature.Change, error) {
				return t.RemoveRepository(ctx, in.Arg("repository"), in.Flag("uninstall-all"))
			})
		},
	}
}

func (t features) repoRefresh() commands.Command {
	return commands.Command{
		Name: "feature:repo-refresh", Summary: "read the files of the catalogue again",
		Options: []commands.Option{verboseOption},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "reading the catalogue", func() (feature.Change, error) { return t.Refresh(ctx) })
		},
	}
}
