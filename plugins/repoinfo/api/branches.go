package api

import (
	"context"
	"net/http"
)

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
