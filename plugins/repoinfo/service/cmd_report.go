package service

import (
	"context"
	"strings"

	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/sdk/commands"
)

// reportCommand is repoinfo:report: what happened between two references.
func reportCommand(s *Service, project func(context.Context, string) []string) commands.Command {
	return commands.Command{
		Name:    "repoinfo:report",
		Summary: "Sum up the commits of REF1 since REF2",
		Help: "Counts commits, lines, authors, organizations and time zones of REF1 down to the common parent of REF1 and REF2, in all projects or in those named. " +
			"Lines Co-Authored-By: and Also-By: count for their authors and organizations too. Projects that cannot be compared are listed, with the reason.\n" +
			"Example: repoinfo:report stable/boron stable/beryllium --project netconf,mdsal --format json",
		Arguments: []commands.Argument{
			{Name: "ref1", Help: "branch, tag or hash to report on", Required: true},
			{Name: "ref2", Help: "branch, tag or hash to compare with", Required: true},
		},
		Options: []commands.Option{{Name: "project", Short: "p", Help: "projects, separated by commas; all when absent", Complete: project}},
		Safe:    true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if s == nil {
				return errNoService
			}
			return s.summary(ctx, in)
		},
	}
}

func (s *Service) summary(ctx context.Context, in *commands.Invocation) error {
	refs := []string{in.Arg("ref1"), in.Arg("ref2")}
	for i, name := range []string{"ref1", "ref2"} {
		if err := refname.Ref(name, refs[i]); err != nil {
			return err
		}
	}
	var projects []string
	for name := range strings.SplitSeq(in.Option("project"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			projects = append(projects, name)
		}
	}
	var r *report.Report
	r, err := s.report.Make(ctx, refs[0], refs[1], projects, func(done, total int) {
		in.Progress(commands.Progress{Text: "comparing", Done: int64(done), Total: int64(total)})
	})
	in.Progress(commands.Progress{})
	if err != nil {
		return err
	}
	return in.Emit(r, r.Text)
}
