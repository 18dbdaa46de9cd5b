package api

import (
	"context"
	"net/http"

	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/meta"
	"ctl.internal/sdk/fault"
)

// openProject finds the project, and says when it is being cloned.
func (a *API) openProject(ctx context.Context, project string) (history.Repo, func(), error) {
	repo, release, err := a.Folder.Open(ctx, project)
	if err != nil &&
		fault.KindOf(err) == fault.NotFound &&
		a.Syncer != nil &&
		a.Syncer.Cloning(project) {
		err = fault.New(fault.Unavailable, "project %s is being cloned: try again later", project)
	}
	return repo, release, err
}

// sharedGitHandler answers what a project's repository says, under a member of this name. Those who ask the same at the same
// time share the answer.
func sharedGitHandler(member string, ask func(context.Context, history.Repo) (any, error)) handler {
	return func(a *API, w http.ResponseWriter, r *http.Request, p *params) error {
		project := p.requiredValue("project")
		if p.err != nil {
			return p.err
		}
		answer, err := a.asked.Do(r.Context(), member+" "+project, func(ctx context.Context) (any, error) {
			repo, release, err := a.openProject(ctx, project)
			if err != nil {
				return nil, err
			}
			defer release()
			return ask(ctx, repo)
		})
		if err != nil {
			return err
		}
		return writeJSON(w, r, map[string]any{member: answer})
	}
}

func listBranches(ctx context.Context, repo history.Repo) (any, error) {
	return repo.Branches(ctx)
}

// projectInfo is the file about a project in its default branch.
func projectInfo(ctx context.Context, repo history.Repo) (any, error) {
	tip, err := repo.Default(ctx)
	if err != nil {
		return nil, err
	}
	return meta.Read(ctx, repo, tip)
}

// gitCommits answers /git/commits: the commits of a branch, the newest first.
func (a *API) gitCommits(w http.ResponseWriter, r *http.Request, p *params) error {
	branch := p.refValue("branch")
	return a.answerCommitList(w, r, p, func(ctx context.Context, repo history.Repo) (tip, base string, err error) {
		if branch == "" {
			tip, err = repo.Default(ctx)
			return tip, "", err
		}
		hashes, err := repo.Resolve(ctx, "branch", branch)
		if err != nil {
			return "", "", err
		}
		return hashes[0], "", nil
	})
}

// gitCommitsSinceRef answers /git/commits_since_ref: the commits of ref1 down to
// the common parent of ref1 and ref2, which itself is left out.
func (a *API) gitCommitsSinceRef(w http.ResponseWriter, r *http.Request, p *params) error {
	p.requiredValue("project")
	p.requiredValue("ref1")
	ref1 := p.refValue("ref1")
	p.requiredValue("ref2")
	ref2 := p.refValue("ref2")
	return a.answerCommitList(w, r, p, func(ctx context.Context, repo history.Repo) (tip, base string, err error) {
		return repo.Since(ctx, ref1, ref2)
	})
}
