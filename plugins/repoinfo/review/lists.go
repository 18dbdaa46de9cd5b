package review

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// allUsers holds the accounts; it is no project in the sense of the callers.
const allUsers = "All-Users"

// Projects lists the names of all projects, sorted.
func (c *Client) Projects(ctx context.Context) ([]string, error) {
	seen := map[string]bool{}
	err := c.pages(ctx, func(ctx context.Context, start int) (n int, more bool, size int, err error) {
		body, err := c.get(ctx, "projects/?"+c.window(start))
		if err != nil {
			return 0, false, 0, err
		}
		page, err := projectPage(body)
		if err != nil {
			return 0, false, 0, err
		}
		fresh := false
		for name, last := range page {
			fresh = fresh || !seen[name]
			more = more || last
			seen[name] = true
		}
		return len(page), fresh && (more || len(page) == c.o.Pages), len(body), nil
	})
	if err != nil {
		return nil, err
	}
	delete(seen, allUsers)
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
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
	path := "projects/" + url.PathEscape(project) + "/" + kind + "/?"
	return c.list(ctx, path, func(m *member) string { return m.Ref })
}

// Changes lists the merged changes of a branch as received, without the marks of
// the paging.
func (c *Client) Changes(ctx context.Context, project, branch string) ([]json.RawMessage, error) {
	if err := refname.Project(project); err != nil {
		return nil, err
	}
	if err := refname.Ref("branch", branch); err != nil {
		return nil, err
	}
	if strings.ContainsAny(branch, `"{}`) { // they would end the quoted value
		return nil, fault.At(fault.Invalid, "branch", "the review server cannot be asked for a branch with a quote or brace in its name")
	}
	q := `status:merged project:"` + project + `" branch:"` + branch + `"`
	return c.list(ctx, "changes/?q="+url.QueryEscape(q)+"&", func(m *member) string { return m.Number.String() })
}

// member is what the paging needs to know of an object.
type member struct {
	Ref    string      `json:"ref"`
	Number json.Number `json:"_number"`
	More   bool        `json:"_more_changes"`
}

// list follows all pages of an array. An object that a page repeats, because
// something moved between two pages, is taken once.
func (c *Client) list(ctx context.Context, path string, key func(*member) string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	seen := map[string]bool{}
	err := c.pages(ctx, func(ctx context.Context, start int) (n int, more bool, size int, err error) {
		body, err := c.get(ctx, path+c.window(start))
		if err != nil {
			return 0, false, 0, err
		}
		page, members, err := arrayPage(body)
		if err != nil {
			return 0, false, 0, err
		}
		fresh := false
		for i := range page {
			more = more || members[i].More
			if k := key(&members[i]); k != "" {
				if seen[k] {
					continue
				}
				seen[k] = true
			}
			fresh = true
			all = append(all, page[i])
		}
		return len(page), fresh && (more || len(page) == c.o.Pages), len(body), nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (c *Client) window(start int) string {
	w := "n=" + strconv.Itoa(c.o.Pages)
	if start > 0 {
		w += "&S=" + strconv.Itoa(start)
	}
	return w
}

// pages calls page with growing starts until it says that there is no more. A
// page without anything new ends it too: there are servers that ignore S.
func (c *Client) pages(ctx context.Context, page func(ctx context.Context, start int) (n int, more bool, size int, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, c.o.Budget)
	defer cancel()
	var total int64
	for start := 0; ; {
		n, more, size, err := page(ctx, start)
		if err != nil {
			return err
		}
		if total += int64(size); total > c.o.MaxBytes {
			return tooLong(c.o.MaxBytes)
		}
		if !more || n == 0 {
			return nil
		}
		start += n
	}
}
