package service

import (
	"cmp"
	"context"
	"net/url"

	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// releaseOptions are those that all questions about releases have.
func (s *Service) releaseOptions(more ...commands.Option) []commands.Option {
	common := []commands.Option{
		{
			Name:     "project",
			Short:    "p",
			Help:     "projects, separated by commas; all when absent",
			Complete: s.completeProjects,
		},
		{
			Name: "path",
			Help: "only commits that touch this file or directory",
		},
		{
			Name: "machines",
			Help: "patterns of names and addresses of programs, separated by commas; none: everybody is a person",
		},
		{
			Name:   "form",
			Help:   "text, csv, html or markdown",
			Values: []string{"text", "csv", "html", "markdown"},
		},
	}
	return append(common, more...)
}

// releaseCommands are the questions about releases.
func (s *Service) releaseCommands() []commands.Command {
	ask := func(kind release.Kind) func(context.Context, *commands.Invocation) error {
		return func(ctx context.Context, in *commands.Invocation) error {
			return s.askRelease(ctx, in, kind)
		}
	}
	return []commands.Command{
		{
			Name:    "repoinfo:new",
			Summary: "List what REF1 has and REF2 has not",
			Help: "Lists the commits of REF1 that REF2 does not have, without merges. Commits that REF2 has under another hash are listed apart, " +
				"with the reason: cherry picked from, the same Change-Id, the same patch.\nExample: repoinfo:new v2.0 v1.9 --project netconf",
			Arguments: []commands.Argument{
				{
					Name:     "ref1",
					Help:     "branch, tag or hash",
					Required: true,
				},
				{
					Name:     "ref2",
					Help:     "branch, tag or hash to compare with",
					Required: true,
				},
			},
			Options: s.releaseOptions(),
			Safe:    true,
			Run:     ask(release.AskNews),
		},
		{
			Name:    "repoinfo:backports",
			Summary: "List commits that a branch lacks although it needs them",
			Help: "Lists the commits that BRANCH lacks and that repair (trailer Fixes) or revert a commit that it has, that repair another missed " +
				"one, or that have an open change on BRANCH at the review server; each with the reason.\n" +
				"Example: repoinfo:backports stable/2.0 --from master",
			Arguments: []commands.Argument{{
				Name:     "branch",
				Help:     "branch, tag or hash",
				Required: true,
			}},
			Options: s.releaseOptions(commands.Option{
				Name: "from",
				Help: "where the commits come from; each project's default branch when absent",
			}),
			Safe: true,
			Run:  ask(release.AskBackports),
		},
		{
			Name:    "repoinfo:notes",
			Summary: "Write the release notes of REF1 since REF2",
			Help: "Writes the commits of REF1 that REF2 does not have, by project or by a trailer of their messages, and names those who took part, " +
				"above all those who did so for the first time.\nExample: repoinfo:notes v2.0 v1.9 --group Topic --form markdown",
			Arguments: []commands.Argument{
				{
					Name:     "ref1",
					Help:     "the release: branch, tag or hash",
					Required: true,
				},
				{
					Name:     "ref2",
					Help:     "the release before",
					Required: true,
				},
			},
			Options: s.releaseOptions(
				commands.Option{
					Name: "group",
					Help: "project, or the name of a trailer such as Topic",
				},
				commands.Option{
					Name: "title",
					Help: "of the notes",
				},
				commands.Option{
					Name: "template",
					Help: "name of a file in the directory of the setting templates, instead of --form",
				},
			),
			Safe: true,
			Run:  ask(release.AskNotes),
		},
		{
			Name:    "repoinfo:compare",
			Summary: "Compare the releases REF1 and REF2 side by side",
			Help: "Shows commits, people, organizations, newcomers, people who are lost, bus factor and elephant factor of REF1 since REF2 beside those " +
				"of REF2 since REF3.\nExample: repoinfo:compare v2.0 v1.9 v1.8",
			Arguments: []commands.Argument{
				{
					Name:     "ref1",
					Help:     "the later release: branch, tag or hash",
					Required: true,
				},
				{
					Name:     "ref2",
					Help:     "the earlier release",
					Required: true,
				},
				{
					Name: "ref3",
					Help: "the release before REF2; from the beginning when absent",
				},
			},
			Options: s.releaseOptions(commands.Option{
				Name: "top",
				Help: "entries of each list; all when absent",
			}),
			Safe: true,
			Run:  ask(release.AskCompare),
		},
	}
}

// question reads the arguments, by the rules of the HTTP parameters.
func (s *Service) question(in *commands.Invocation, kind release.Kind) (release.Question, error) {
	values := url.Values{}
	names := []string{"ref1", "ref2", "ref3", "branch", "from", "project", "path", "machines", "group", "title"}
	for _, name := range names {
		if v := cmp.Or(in.Arg(name), in.Option(name)); v != "" {
			values.Set(name, v)
		}
	}
	q, err := s.api.Question(values, kind)
	if err != nil {
		return q, err
	}
	q.Request.Limit, err = parseNumber(in.Option("top"))
	return q, err
}

// askRelease answers a question about releases at the console.
func (s *Service) askRelease(
	ctx context.Context,
	in *commands.Invocation,
	kind release.Kind,
) error {
	q, err := s.question(in, kind)
	if err != nil {
		return err
	}
	own, err := s.ownTemplate(in)
	if err != nil {
		return err
	}
	show, stop := showProgress(in)
	answer, err := s.api.Release(ctx, q, askedBy(in), show)
	stop()
	if err != nil {
		return err
	}
	if own != nil {
		return own.Execute(ctx, in.Stdout, answer.(*release.Notes))
	}
	switch in.Option("form") {
	case "csv":
		return answer.CSV(in.Stdout)
	case "html":
		return answer.HTML(in.Stdout)
	case "markdown":
		return answer.Markdown(in.Stdout)
	}
	return in.Emit(answer, answer.Text)
}

// ownTemplate reads the template that the command names, nil if it names none.
func (s *Service) ownTemplate(in *commands.Invocation) (*release.Template, error) {
	name := in.Option("template")
	if name == "" {
		return nil, nil
	}
	if in.Option("form") != "" {
		return nil, fault.New(fault.Invalid, "--form cannot be combined with --template")
	}
	return s.api.Templates.Read(name)
}
