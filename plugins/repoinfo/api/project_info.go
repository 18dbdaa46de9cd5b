package api

import (
	"context"
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
