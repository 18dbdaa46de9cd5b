package service

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// commandTable is the table of commands; those of the zero Service describe themselves only.
func (s *Service) commandTable() []commands.Command {
	all := []commands.Command{
		{
			Name:    "repoinfo:projects",
			Summary: "List the clones with their state",
			Safe:    true,
			Run:     s.showProjects,
			Help: "Lists every project in the directory of clones: kind (bare, normal), state (ok, empty, shallow, partial, damaged, unreadable, absent), " +
				"branches, tags, whether it is mirrored, the last sync in UTC, commits with and without line counts, and what is wrong.",
		},
		{
			Name:    "repoinfo:sync",
			Summary: "Mirror the sources and count new commits now",
			Safe:    true,
			Run:     s.syncProjects,
			Help: "Fetches every source of etc/repoinfo.yaml, or one project, and counts the lines of new commits of all clones, so that no request has to wait. " +
				"Fails when a project failed; the others are synced all the same.\nExample: repoinfo:sync netconf",
			Arguments: []commands.Argument{{
				Name:     "project",
				Help:     "only this project",
				Complete: s.completeProjects,
			}},
		},
		s.reportCommand(),
	}
	return append(all, s.releaseCommands()...)
}

// Commands describes the console's commands.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// completeProjects lists the projects whose names begin with prefix.
func (s *Service) completeProjects(ctx context.Context, prefix string) []string {
	names, err := s.folder.Projects(ctx)
	if err != nil {
		return nil
	}
	var list []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			list = append(list, n)
		}
	}
	return list
}

// splitWords are the parts of a list separated by commas.
func splitWords(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.SplitSeq(list, ",") {
			if w = strings.TrimSpace(w); w != "" && !yield(w) {
				return
			}
		}
	}
}

// parseNumber reads an option that is a number from 1; absent is 0.
func parseNumber(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "%q is not a number from 1", text)
	}
	return n, nil
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}

func (s *Service) syncProjects(ctx context.Context, in *commands.Invocation) error {
	names, err := s.syncer.Sync(ctx, in.Arg("project"), func(st syncer.Step) {
		text := st.Text
		if st.Project != "" {
			text = st.Project + ": " + text
		}
		in.Progress(commands.Progress{
			Text:  text,
			Done:  int64(st.Done),
			Total: int64(st.Total),
		})
	})
	in.Progress(commands.Progress{})
	if names == nil && err != nil {
		return err
	}
	t := commands.Table{Empty: "There is nothing to sync.",
		Columns: []commands.Column{{
			Title: "Project",
			Key:   "project",
		}, {Title: "Counted", Key: "counted", Right: true},
			{
				Title: "Unknown",
				Key:   "unknown",
				Right: true,
			}, {Title: "Result", Key: "result", Max: 200}}}
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
		err = fault.New(
			fault.Downstream,
			"%d of %d projects could not be synced",
			failed,
			len(names),
		)
	}
	return err
}

// askSources is how long the review server may take to name its projects, before
// the list comes without those that are not cloned yet.
const askSources = 10 * time.Second

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

func (s *Service) showProjects(ctx context.Context, in *commands.Invocation) error {
	infos, err := s.folder.Inspect(ctx)
	if err != nil {
		return err
	}
	t := commands.Table{
		Empty: "There are no clones in " + s.set.Clones + ". repoinfo:sync mirrors the sources of etc/repoinfo.yaml.",
		Columns: []commands.Column{
			{
				Title: "Project",
				Key:   "project",
			}, {
				Title: "Kind",
				Key:   "kind",
			}, {Title: "State", Key: "state"},
			{
				Title: "Branches",
				Key:   "branches",
				Right: true,
			}, {Title: "Tags", Key: "tags",
				Right: true}, {
				Title: "Mirrored",
				Key:   "mirrored",
			},
			{
				Title: "Synced",
				Key:   "synced",
			}, {
				Title: "Counted",
				Key:   "counted",
				Right: true,
			}, {Title: "Unknown",
				Key: "unknown", Right: true},
			{Title: "Problem", Key: "problem", Max: 160},
		},
	}
	listed := map[string]bool{}
	for _, i := range infos {
		listed[i.Project] = true
		var st syncer.Status
		if i.Kind != clones.Broken { // its name may be another's
			st = s.syncer.Status(i.Project)
		}
		state, problem := stateAfter(i, st)
		t.Add(i.Project, i.Kind, string(state), i.Branches, i.Tags, i.Mirrored, formatTime(st.When), st.Counted, st.Unknown,
			problem)
	}
	ask, cancel := context.WithTimeout(ctx, askSources)
	defer cancel()
	sources, sourcesErr := s.mirrorSources(ask)
	for _, src := range sources {
		if !listed[src.Project] {
			st := s.syncer.Status(src.Project)
			problem := "not cloned yet"
			if st.Err != nil {
				problem = fault.All(st.Err)[0].Text
			}
			t.Add(src.Project, "", "absent", 0, 0, true, formatTime(st.When), 0, 0, problem)
		}
	}
	if err := in.Emit(&t, nil); err != nil {
		return err
	}
	return sourcesErr
}
