package api

import (
	"context"
	"net/http"

	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/meta"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// open finds the project, and says when it is being cloned.
func (a *API) open(ctx context.Context, project string) (history.Repo, func(), error) {
	repo, release, err := a.Folder.Open(ctx, project)
	if err != nil && fault.KindOf(err) == fault.NotFound && a.Syncer != nil && a.Syncer.Cloning(project) {
		err = fault.New(fault.Unavailable, "project %s is being cloned: ask again later", project)
	}
	return repo, release, err
}

// gitBranches answers /git/branches: the short names of a project's branches.
func (a *API) gitBranches(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	names, err := a.branches.Do(r.Context(), project, func(ctx context.Context) ([]string, error) {
		repo, release, err := a.open(ctx, project)
		if err != nil {
			return nil, err
		}
		defer release()
		return repo.Branches(ctx)
	})
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"branches": names})
}

// gitProjectInfo answers /git/project_info: the file about a project in its default
// branch.
func (a *API) gitProjectInfo(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	info, err := a.infos.Do(r.Context(), project, func(ctx context.Context) (any, error) {
		repo, release, err := a.open(ctx, project)
		if err != nil {
			return nil, err
		}
		defer release()
		tip, err := repo.Default(ctx)
		if err != nil {
			return nil, err
		}
		return meta.Read(ctx, repo, tip)
	})
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"project-info": info})
}

// gitCommits answers /git/commits: the commits of a branch, the newest first.
func (a *API) gitCommits(w http.ResponseWriter, r *http.Request, p params) error {
	branch, err := p.ref("branch")
	if err != nil {
		return err
	}
	return a.list(w, r, p, func(ctx context.Context, repo history.Repo) (tip, base string, err error) {
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
func (a *API) gitCommitsSinceRef(w http.ResponseWriter, r *http.Request, p params) error {
	if _, err := p.required("project"); err != nil {
		return err
	}
	refs := make([]string, 2)
	for i, name := range []string{"ref1", "ref2"} {
		_, err := p.required(name)
		if err == nil {
			refs[i], err = p.ref(name)
		}
		if err != nil {
			return err
		}
	}
	return a.list(w, r, p, func(ctx context.Context, repo history.Repo) (tip, base string, err error) {
		return repo.Since(ctx, refs[0], refs[1])
	})
}

// ref is the name of a reference, checked.
func (p params) ref(name string) (string, error) {
	v, err := p.one(name)
	if err == nil && v != "" {
		err = refname.Ref(name, v)
	}
	return v, err
}

// selection reads the parameters that lists and reports share.
func (a *API) selection(p params, q *history.Query) (err error) {
	if q.Filter.Author, err = p.text("author"); err != nil {
		return err
	}
	if q.Filter.Organization, err = p.text("organization"); err != nil {
		return err
	}
	if q.Filter.Skip, err = p.flag("skip", a.Skip); err != nil {
		return err
	}
	if q.Filter.Since, err = p.moment("since", false); err != nil {
		return err
	}
	if q.Filter.Until, err = p.moment("until", true); err != nil {
		return err
	}
	if q.Filter.Since != 0 && q.Filter.Until != 0 && q.Filter.Since > q.Filter.Until {
		return bad("since", "Parameter since is later than until.")
	}
	if q.Path, err = p.one("path"); err != nil {
		return err
	}
	if q.Path != "" {
		if err = refname.Path(q.Path); err != nil {
			return err
		}
	}
	if q.Simplify, err = p.flag("simplify", false); err != nil {
		return err
	}
	q.Renames, err = p.flag("renames", a.Renames)
	return err
}
