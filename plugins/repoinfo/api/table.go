package api

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/review"
)

// param describes a parameter for the OpenAPI document.
type param struct {
	name, help string
	required   bool
	values     []string // the only ones allowed
}

var (
	project  = param{"project", "name of the project", true, nil}
	projects = param{"project", "names of projects, separated by commas; all when absent", false, nil}
	branch   = param{"branch", "branch, tag, full reference or hash; absent: master, else what HEAD names", false, nil}
	ref1     = param{"ref1", "branch, tag, full reference or hash to list", true, nil}
	ref2     = param{"ref2", "the same, to compare with", true, nil}
	flags    = []string{"true", "false"}
	byAuthor = []param{
		{"author", "e-mail address of the author, case ignored", false, nil},
		{"organization", "what follows the first @ of that address, case ignored", false, nil},
	}
	selection = []param{
		{"since", "committed not before: seconds since 1970, 2016-12-31 or 2016-12-31T12:00:00Z", false, nil},
		{"until", "committed not after; a day counts whole", false, nil},
		{"path", "only commits that touch this file or folder", false, nil},
		{"simplify", "with path: git's simplified history instead of all commits", false, flags},
		{"renames", "a moved file counts only what changed in it", false, flags},
		{"skip", "false: also the commits that the review server made by itself", false, flags},
	}
	listing = slices.Concat(byAuthor, []param{
		{"merges", "false: no merges, only: nothing else", false, []string{"true", "false", "only"}},
		{"stats", "false: without line counts", false, flags},
		{"limit", "commits of one page", false, nil},
		{"cursor", "where the page begins, from the header Link", false, nil},
		{"format", "ndjson: one commit a line", false, []string{"json", "ndjson"}},
	}, selection)
	reporting = slices.Concat([]param{projects, branch,
		{"ref1", "with ref2 and without branch: ref1 down to the common parent of both", false, nil},
		{"ref2", "see ref1", false, nil},
		{"merge_lines", "true: count the lines of merges too, against their first parents", false, flags},
		{"interval", "of the timeline; release: each commit belongs to the first tag that has it", false, report.Intervals},
		{"new", "who is new: not in the whole history before, or not in that of the path", false, []string{report.NewInHistory, report.NewInSelection}},
		{"machines", "patterns of names and addresses of programs, separated by commas, instead of the setting; none: everybody is a person", false, nil},
		{"picks", "false: with ref1 and ref2, without the commits that ref2 has, be it under another hash", false, flags},
		{"limit", "entries of each list; absent: all, of files 100", false, nil},
		{"format", "of the answer", false, []string{"json", "csv", "html"}},
		{"author", "name, address or both as the report shows them, case ignored; co-authors included", false, nil},
		{"organization", "as the report shows it, case ignored", false, nil},
	}, selection)
)

// Parameters of questions about releases.
var (
	ofReleases = []param{
		projects,
		{"path", "only commits that touch this file or folder", false, nil},
		{"skip", "false: also the commits that the review server made by itself", false, flags},
		{"machines", "patterns of names and addresses of programs, separated by commas, instead of the setting; none: everybody is a person", false, nil},
		{"format", "of the answer", false, []string{"json", "csv", "html", "markdown"}},
	}
	newParams = joinParams(ofReleases,
		param{"ref1", "branch, tag, full reference or hash; absent: the default branch", false, nil},
		param{"ref2", "what ref1 is compared with", true, nil})
	backportParams = joinParams(ofReleases,
		param{"branch", "branch that may lack commits", true, nil},
		param{"from", "where its commits come from; absent: the default branch", false, nil})
	notesParams = joinParams(ofReleases,
		param{"ref1", "the release: branch, tag, full reference or hash", true, nil},
		param{"ref2", "the release before", true, nil},
		param{"group", "project, or the name of a trailer of messages such as Topic; absent: project", false, nil},
		param{"title", "of the notes", false, nil},
		param{"template", "name of a file in the directory of the setting templates, instead of a format", false, nil})
	compareParams = joinParams(ofReleases,
		param{"ref1", "the later release: branch, tag, full reference or hash", true, nil},
		param{"ref2", "the earlier release", true, nil},
		param{"ref3", "the release before ref2; absent: ref2 is counted from the beginning", false, nil},
		param{"limit", "entries of each list; absent: all", false, nil})
)

func joinParams(more []param, first ...param) []param {
	return append(first, more...)
}

// listEndpoints are all paths.
func listEndpoints() []endpoint {
	statistics := func(name, summary string, sections ...string) endpoint {
		return endpoint{"/git/" + name, summary, reporting, "Report",
			func(a *API, w http.ResponseWriter, r *http.Request, p *params) error {
				return a.answerReport(w, r, p, sections)
			}}
	}
	return []endpoint{
		{"/git/branches", "Names of the branches of a project", []param{project}, "BranchNames", sharedGitHandler("branches", listBranches)},
		{"/git/commits", "Commits of a branch, the newest first", joinParams(listing, project, branch), "Commits",
			(*API).gitCommits},
		{"/git/commits_since_ref", "Commits of ref1 down to the common parent of ref1 and ref2, itself left out",
			joinParams(listing, project, ref1, ref2), "Commits", (*API).gitCommitsSinceRef},
		{"/git/project_info", "Meta information from PROJECT_INFO.yaml or INFO.yaml", []param{project}, "ProjectInfo",
			sharedGitHandler("project-info", projectInfo)},
		statistics("report", "Everything below but files", report.Projects, report.Authors, report.Organizations,
			report.Zones,
			report.Contributing, report.TimelineOf, report.ActivityOf),
		statistics(
			"timeline",
			"Commits, lines and authors over time, over all and by project",
			report.TimelineOf,
		),
		statistics(
			"authors",
			"People with their first and last commits, co-authors included",
			report.Authors,
		),
		statistics(
			"organizations",
			"Organizations with their first and last commits",
			report.Organizations,
		),
		statistics(
			"contributors",
			"People whose first commit lies in the period, and people who were active before it and not in it",
			report.Contributing,
		),
		statistics("activity", "Commits by weekday and hour of the author, and time zones", report.ActivityOf,
			report.Zones),
		statistics("files", "Files and folders that change most", report.Files),
		{"/git/new", "What ref1 has and ref2 has not, with what is left out because ref2 has the same change", newParams, "News",
			askRelease(release.AskNews, newParams)},
		{"/git/backports", "Commits that a branch lacks although it has what they repair or an open change, with the reasons",
			backportParams, "Backports", askRelease(release.AskBackports, backportParams)},
		{"/git/notes", "Release notes of one or several projects", notesParams, "Notes",
			askRelease(release.AskNotes, notesParams)},
		{"/git/compare", "Two releases side by side: commits, people, organizations, newcomers, lost, bus and elephant factor",
			compareParams, "Comparison", askRelease(release.AskCompare, compareParams)},
		{"/review/branches", "Branches of a project as the review server sends them", []param{project}, "Branches",
			reviewHandler("branches", ofProject((*review.Client).Branches))},
		{"/review/changes", "Merged changes of a branch as the review server sends them", []param{project, branch},
			"Changes", reviewHandler("changes", askChanges)},
		{"/review/projects", "Names of all projects of the review server", nil, "Projects",
			reviewHandler("projects", askProjects)},
		{"/review/tags", "Tags of a project as the review server sends them", []param{project}, "Tags",
			reviewHandler("tags", ofProject((*review.Client).Tags))},
		{"/openapi.json", "This document", nil, "", (*API).openAPI},
		{"/", "What can be asked, as text", nil, "", (*API).answerStatus},
	}
}

func (e *endpoint) hasParam(name string) bool {
	for _, p := range e.params {
		if p.name == name {
			return true
		}
	}
	return false
}

// answerStatus answers the root: what can be asked.
func (a *API) answerStatus(w http.ResponseWriter, r *http.Request, _ *params) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.Method == http.MethodHead {
		return nil
	}
	_, _ = io.WriteString(w, "Repository information\n\n")
	for _, e := range listEndpoints() {
		var names []string
		for _, p := range e.params {
			if p.required {
				names = append(names, p.name+"="+strings.ToUpper(p.name[:1])+p.name[len(p.name):])
			}
		}
		query := ""
		if len(names) > 0 {
			query = "?" + strings.Join(names, "&")
		}
		_, _ = fmt.Fprintf(w, "GET %-50s %s\n", strings.TrimPrefix(e.path, "/")+query, e.summary)
	}
	_, _ = io.WriteString(
		w,
		"\nWith a project in the path: projects/NAME/git/… and projects/NAME/review/…\n",
	)
	return nil
}
