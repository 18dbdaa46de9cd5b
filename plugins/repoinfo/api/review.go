package api

import (
	"context"
	"encoding/json"
	"net/http"

	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/sdk/fault"
)

// question is what the review server is asked.
type question = func(context.Context, *review.Client) (any, error)

// reviewHandler answers what the review server says, under a member of this name. read reads the parameters and returns
// the question.
func reviewHandler(member string, read func(*params) question) handler {
	return func(a *API, w http.ResponseWriter, r *http.Request, p *params) error {
		ask := read(p)
		switch {
		case p.err != nil:
			return p.err
		case a.Review == nil:
			return fault.New(
				fault.Unavailable,
				"no review server is configured: set review_url in etc/repoinfo.yaml",
			)
		}
		answer, err := ask(r.Context(), a.Review)
		if err != nil {
			return err
		}
		return writeJSON(w, r, map[string]any{member: answer})
	}
}

// ofProject asks for a list of one project.
func ofProject(ask func(*review.Client, context.Context, string) ([]json.RawMessage, error)) func(*params) question {
	return func(p *params) question {
		project := p.requiredValue("project")
		return func(ctx context.Context, c *review.Client) (any, error) {
			return ask(c, ctx, project)
		}
	}
}

func askProjects(*params) question {
	return func(ctx context.Context, c *review.Client) (any, error) {
		return c.Projects(ctx)
	}
}

func askChanges(p *params) question {
	project, branch := p.requiredValue("project"), p.singleValue("branch")
	return func(ctx context.Context, c *review.Client) (any, error) {
		return c.Changes(ctx, project, branch)
	}
}
