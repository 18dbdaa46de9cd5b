package service

import (
	"context"

	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// syncCommand is repoinfo:sync: mirror and count now.
func (s *Service) syncCommand() commands.Command {
	return commands.Command{
		Name:    "repoinfo:sync",
		Summary: "Mirror the sources and count new commits now",
		Help: "Fetches every source of etc/repoinfo.yaml, or one project, and counts the lines of new commits of all clones, so that no request has to wait. " +
			"Fails when a project failed; the others are synced all the same.\nExample: repoinfo:sync netconf",
		Arguments: []commands.Argument{{Name: "project", Help: "only this project", Complete: s.complete}},
		Safe:      true,
		Run:       s.sync,
	}
}

func (s *Service) sync(ctx context.Context, in *commands.Invocation) error {
	names, err := s.syncer.Sync(ctx, in.Arg("project"), func(st syncer.Step) {
		text := st.Text
		if st.Project != "" {
			text = st.Project + ": " + text
		}
		in.Progress(commands.Progress{Text: text, Done: int64(st.Done), Total: int64(st.Total)})
	})
	in.Progress(commands.Progress{})
	if names == nil && err != nil {
		return err
	}
	t := commands.Table{Empty: "There is nothing to sync.",
		Columns: []commands.Column{{Title: "Project", Key: "project"}, {Title: "Counted", Key: "counted", Right: true},
			{Title: "Unknown", Key: "unknown", Right: true}, {Title: "Result", Key: "result", Max: 200}}}
	failed := 0
	for _, name := range names {
		st := s.syncer.Status(name)
		result := "ok"
		if st.Err != nil {
			result = fault.All(st.Err)[0].Text
			failed++
		}
		t.Add(name, st.Counted, st.Unknown, result)
	}
	if err := in.Emit(&t, nil); err != nil {
		return err
	}
	if err == nil && failed > 0 {
		err = fault.New(fault.Downstream, "%d of %d projects could not be synced", failed, len(names))
	}
	return err
}
