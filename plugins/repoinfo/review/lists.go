package review

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// allUsers holds the accounts; it is no project in the sense of the callers.
const allUsers = "All-Users"

// Projects lists the names of all projects, sorted.
func (c *Client) Projects(ctx context.Context) ([]string, error) {
	return shared(ctx, c, &c.names, "projects", "", c.projects)
}

func (c *Client) projects(ctx context.Context) ([]string, error) {
	var p names
	if err := c.pages(ctx, "projects/?", &p); err != nil {
		return nil, err
	}
	delete(p.seen, allUsers)
	all := slices.AppendSeq(make([]string, 0, len(p.seen)), maps.Keys(p.seen))
	slices.Sort(all)
	return all, nil
}

// Branches lists the branches of a project as received.
func (c *Client) Branches(ctx context.Context, project string) ([]json.RawMessage, error) {
	return c.refs(ctx, project, "branches")
}

// Tags lists the tags of a project as received.
func (c *Client) Tags(ctx context.Context, project string) ([]json.RawMessage, error) {
	return c.refs(ctx, project, "tags")
}

func (c *Client) refs(ctx context.Context, project, kind string) ([]json.RawMessage, error) {
	if err := refname.Project(project); err != nil {
		return nil, err
	}
	return shared(ctx, c, &c.arrays, kind+" "+project, project, func(ctx context.Context) ([]json.RawMessage, error) {
		l := list{key: func(m *member) string { return m.Ref }}
		err := c.pages(ctx, projectPath(project)+"/"+kind+"/?", &l)
		if fault.KindOf(err) == fault.NotFound {
			err = noProject(project)
		}
		return l.objects, err
	})
}

// shared puts a question about a project for all who ask the same at the same time.
func shared[T any](ctx context.Context, c *Client, g *together.Group[T], question, project string,
	ask func(context.Context) (T, error)) (T, error) {
	answer, err := g.Do(ctx, question, func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(context.WithValue(ctx, projectKey{}, project), c.o.Budget)
		defer cancel()
		return ask(ctx)
	})
	return answer, c.explain(ctx, err)
}

func noProject(project string) error {
	return fault.Device(fault.NotFound, "project %s was not found on the review server", project)
}

func projectPath(project string) string { return "projects/" + escape(project) }

// escape writes a name as one segment of a path. The server takes a "+" there for
// a blank.
func escape(name string) string { return strings.ReplaceAll(url.PathEscape(name), "+", "%2B") }
