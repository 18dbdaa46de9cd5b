package review

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// defaultBranch is the one that a caller means who names none.
const defaultBranch = "master"

// Changes lists the merged changes of a branch as received, without the marks of
// the paging. Without a branch they are those of master, or of the branch that HEAD
// names in a project without one.
func (c *Client) Changes(ctx context.Context, project, branch string) ([]json.RawMessage, error) {
	asked := branch
	if asked == "" {
		asked = defaultBranch
	}
	if err := checkNames(project, asked); err != nil {
		return nil, err
	}
	// No name of a branch has a blank, and none is empty.
	return askShared(ctx, c, &c.arrays, "changes "+branch+" "+project, project,
		func(ctx context.Context) ([]json.RawMessage, error) {
			all, err := c.listChanges(ctx, merged, project, asked)
			if err != nil || len(all) > 0 {
				return all, err
			}
			return c.noChanges(ctx, project, asked, branch != "")
		})
}

// OpenChanges lists the changes of a branch that are neither merged nor abandoned, as received. A branch that the server
// does not know has none.
func (c *Client) OpenChanges(
	ctx context.Context,
	project, branch string,
) ([]json.RawMessage, error) {
	if err := checkNames(project, branch); err != nil {
		return nil, err
	}
	return askShared(ctx, c, &c.arrays, "open "+branch+" "+project, project,
		func(ctx context.Context) ([]json.RawMessage, error) {
			return c.listChanges(ctx, open, project, branch)
		})
}

// checkNames refuses names that the server's query language reads differently.
func checkNames(project, branch string) error {
	if err := refname.Project(project); err != nil {
		return err
	}
	if strings.HasPrefix(project, "^") {
		return fault.At(fault.Invalid, "project",
			"the review server takes a name that begins with \"^\" for a pattern: it cannot be asked for the changes of such a project")
	}
	return refname.Ref("branch", branch)
}

// States of changes, as the server's query language names them.
const (
	merged = "merged"
	open   = "open"
)

func (c *Client) listChanges(
	ctx context.Context,
	state, project, branch string,
) ([]json.RawMessage, error) {
	p, err := quoteValue("project", project)
	if err != nil {
		return nil, err
	}
	b, err := quoteValue("branch", branch)
	if err != nil {
		return nil, err
	}
	l := list{
		read:        arrayPage(func(m *member) string { return m.Number.String() }),
		newestFirst: true,
	}
	query := "status:" + state + " project:" + p + " branch:" + b
	err = c.readPages(ctx, "changes/?q="+url.QueryEscape(query)+"&o=SUBMITTABLE&", &l)
	out := l.rawObjects()
	for i := range out {
		out[i] = withSubmittable(out[i])
	}
	return out, err
}

// withSubmittable adds the member of this name where the server left it out, which it does
// where it is false, also when it is asked for it.
func withSubmittable(change json.RawMessage) json.RawMessage {
	var m struct {
		Submittable *bool `json:"submittable"`
	}
	err := json.Unmarshal(change, &m)
	if err != nil || m.Submittable != nil {
		return change
	}
	separator := ","
	if len(bytes.TrimSpace(change[1:len(change)-1])) == 0 {
		separator = ""
	}
	return append(change[:len(change)-1:len(change)-1], separator+`"submittable":false}`...)
}

// quoteValue makes a value of the server's query language that no operator can hide in.
func quoteValue(parameter, value string) (string, error) {
	switch {
	case !strings.Contains(value, `"`):
		return `"` + value + `"`, nil
	case !strings.ContainsAny(value, "{}"):
		return "{" + value + "}", nil
	}
	return "", fault.At(fault.Invalid, parameter,
		"the review server cannot be asked for a name that has both a quote and a brace")
}

// noChanges distinguishes a branch without merged changes from one that does not exist: the
// server finds nothing either way. named says that the caller asked for the branch.
func (c *Client) noChanges(
	ctx context.Context,
	project, branch string,
	named bool,
) ([]json.RawMessage, error) {
	none := []json.RawMessage{}
	_, known, err := c.getBranch(ctx, project, branch)
	if err != nil || known {
		return none, err
	}
	if _, _, err := c.getPage(ctx, projectPath(project), true); fault.KindOf(err) == fault.NotFound {
		return nil, noProject(project)
	} else if err != nil {
		return nil, err
	}
	if named {
		return nil, fault.Device(fault.NotFound, "branch %s was not found in project %s of the review server", branch,
			project)
	}
	head, known, err := c.getBranch(ctx, project, "HEAD")
	if err != nil || !known || head == branch || refname.Ref("branch", head) != nil {
		return none, err
	}
	return c.listChanges(ctx, merged, project, head)
}

// getBranch asks for one branch: its hash, or for HEAD the branch that it names.
func (c *Client) getBranch(
	ctx context.Context,
	project, name string,
) (revision string, known bool, err error) {
	body, _, err := c.getPage(ctx, projectPath(project)+"/branches/"+escapeSegment(name), true)
	if fault.KindOf(err) == fault.NotFound {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var b struct {
		Revision string `json:"revision"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return "", false, notExpected(err)
	}
	return b.Revision, true, nil
}
