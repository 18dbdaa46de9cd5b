package api

import (
	"context"
	"encoding/json"
	"net/http"

	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/sdk/fault"
)

// reviewed answers what the review server says, under a member of this name.
func reviewed[T any](member string, ask func(*review.Client, context.Context, params) (T, error)) func(*API, http.ResponseWriter, *http.Request, params) error {
	return func(a *API, w http.ResponseWriter, r *http.Request, p params) error {
		answer, err := ask(a.Review, r.Context(), p)
		if err != nil {
			return err
		}
		return reply(w, r, map[string]any{member: answer})
	}
}

// ofProject asks for a list of one project.
func ofProject[T any](ask func(*review.Client, context.Context, string) (T, error)) func(*review.Client, context.Context, params) (T, error) {
	return func(c *review.Client, ctx context.Context, p params) (answer T, err error) {
		project, err := p.required("project")
		if err != nil {
			return answer, err
		}
		if err := configured(c); err != nil {
			return answer, err
		}
		return ask(c, ctx, project)
	}
}

func askProjects(c *review.Client, ctx context.Context, _ params) ([]string, error) {
	if err := configured(c); err != nil {
		return nil, err
	}
	return c.Projects(ctx)
}

// configured says that there is no review server when c is nil.
func configured(c *review.Client) error {
	if c == nil {
		return fault.New(fault.Unavailable, "no review server is configured: set review_url in etc/repoinfo.yaml")
	}
	return nil
}

func askChanges(c *review.Client, ctx context.Context, p params) (answer []json.RawMessage, err error) {
	project, err := p.required("project")
	if err != nil {
		return nil, err
	}
	branch, err := p.one("branch")
	if err != nil {
		return nil, err
	}
	if err := configured(c); err != nil {
		return nil, err
	}
	return c.Changes(ctx, project, branch)
}
