package api

import (
	"context"
	"net/http"

	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/refname"
)

// gitCommits answers /git/commits: the commits of a branch, the newest first.
func (a *API) gitCommits(w http.ResponseWriter, r *http.Request, p params) error {
	l, err := a.listing(p, r.Header.Get("Accept"))
	if err != nil {
		return err
	}
	branch, err := p.one("branch")
	if err != nil {
		return err
	}
	if branch != "" {
		if err := refname.Ref("branch", branch); err != nil {
			return err
		}
	}
	return a.list(w, r, p, &l, func(ctx context.Context, repo history.Repo) (tip, base string, err error) {
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
