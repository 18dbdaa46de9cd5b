package api

import (
	"net/http"

	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/sdk/fault"
)

// server returns the client of the review server.
func (a *API) server() (*review.Client, error) {
	if a.Review == nil {
		return nil, fault.New(fault.Unavailable, "no review server is configured: set review_url in etc/repoinfo.yaml")
	}
	return a.Review, nil
}

// reviewProjects answers /review/projects: the names of all projects.
func (a *API) reviewProjects(w http.ResponseWriter, r *http.Request, _ params) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	names, err := server.Projects(r.Context())
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"projects": names})
}

// reviewBranches answers /review/branches: a project's branches as the server has them.
func (a *API) reviewBranches(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	server, err := a.server()
	if err != nil {
		return err
	}
	list, err := server.Branches(r.Context(), project)
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"branches": list})
}

// reviewTags answers /review/tags: a project's tags as the server has them.
func (a *API) reviewTags(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	server, err := a.server()
	if err != nil {
		return err
	}
	list, err := server.Tags(r.Context(), project)
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"tags": list})
}

// reviewChanges answers /review/changes: the merged changes of a branch.
func (a *API) reviewChanges(w http.ResponseWriter, r *http.Request, p params) error {
	project, err := p.required("project")
	if err != nil {
		return err
	}
	branch, err := p.one("branch")
	if err != nil {
		return err
	}
	server, err := a.server()
	if err != nil {
		return err
	}
	list, err := server.Changes(r.Context(), project, branch)
	if err != nil {
		return err
	}
	return reply(w, r, map[string]any{"changes": list})
}
