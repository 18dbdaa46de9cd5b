package api

import (
	"net/http"

	"ctl.internal/plugins/repoinfo/meta"
)

// gitProjectInfo answers /git/project_info: what a project says of itself in its
// default branch.
func (a *API) gitProjectInfo(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	repo, release, err := a.open(r.Context(), project)
	if err != nil {
		return err
	}
	defer release()
	tip, err := repo.Default(r.Context())
	if err != nil {
		return err
	}
	info, err := meta.Read(r.Context(), repo, tip)
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"project-info": info})
}
