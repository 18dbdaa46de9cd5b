package service

import (
	"context"
	"time"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// askSources is how long the review server may take to name its projects, before
// the list comes without those that are not cloned yet.
const askSources = 10 * time.Second

// projectsCommand is repoinfo:projects: every clone with its state.
func (s *Service) projectsCommand() commands.Command {
	return commands.Command{
		Name:    "repoinfo:projects",
		Summary: "List the clones with their state",
		Help: "Lists every project in the folder of clones: kind (bare, normal), state (ok, empty, shallow, partial, damaged, unreadable, absent), " +
			"branches, tags, whether it is mirrored, the last sync in UTC, commits with and without line counts, and what is wrong.",
		Safe: true,
		Run:  s.projects,
	}
}

// stateAfter adds what the last sync found out to what a look at the clone shows.
func stateAfter(i clones.Info, st syncer.Status) (state clones.State, problem string) {
	state, problem = i.State, i.Problem
	switch {
	case st.Damaged:
		state = clones.Damaged
	case st.Unknown > 0 && state == clones.Ok:
		state, problem = clones.Partial, "objects are missing"
	}
	if st.Err != nil {
		problem = fault.All(st.Err)[0].Text
	}
	return state, problem
}

func (s *Service) projects(ctx context.Context, in *commands.Invocation) error {
	infos, err := s.folder.Inspect(ctx)
	if err != nil {
		return err
	}
	t := commands.Table{Empty: "There are no clones in " + s.set.Clones + ". repoinfo:sync mirrors the sources of etc/repoinfo.yaml.", Columns: []commands.Column{
		{Title: "Project", Key: "project"}, {Title: "Kind", Key: "kind"}, {Title: "State", Key: "state"},
		{Title: "Branches", Key: "branches", Right: true}, {Title: "Tags", Key: "tags",
			Right: true}, {Title: "Mirrored", Key: "mirrored"},
		{Title: "Synced", Key: "synced"}, {Title: "Counted", Key: "counted", Right: true}, {Title: "Unknown",
			Key: "unknown", Right: true},
		{Title: "Problem", Key: "problem", Max: 160},
	}}
	listed := map[string]bool{}
	for _, i := range infos {
		listed[i.Project] = true
		var st syncer.Status
		if i.Kind != clones.Broken { // its name may be another's
			st = s.syncer.Status(i.Project)
		}
		state, problem := stateAfter(i, st)
		t.Add(i.Project, i.Kind, string(state), i.Branches, i.Tags, i.Mirrored, ago(st.When), st.Counted, st.Unknown,
			problem)
	}
	ask, cancel := context.WithTimeout(ctx, askSources)
	defer cancel()
	sources, sourcesErr := s.sources(ask)
	for _, src := range sources {
		if !listed[src.Project] {
			st := s.syncer.Status(src.Project)
			problem := "not cloned yet"
			if st.Err != nil {
				problem = fault.All(st.Err)[0].Text
			}
			t.Add(src.Project, "", "absent", 0, 0, true, ago(st.When), 0, 0, problem)
		}
	}
	if err := in.Emit(&t, nil); err != nil {
		return err
	}
	return sourcesErr
}
