package api

import "net/http"

// gitBranches answers /git/branches: the short names of a project's branches.
func (a *API) gitBranches(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	repo, release, err := a.open(r.Context(), project)
	if err != nil {
		return err
	}
	defer release()
	names, err := repo.Branches(r.Context())
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"branches": names})
}
