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
	return askShared(ctx, c, &c.names, "projects", "", c.listProjects)
}

func (c *Client) listProjects(ctx context.Context) ([]string, error) {
	l := list{read: projectPage}
	if err := c.readPages(ctx, "projects/?", &l); err != nil {
		return nil, err
	}
	delete(l.seen, allUsers)
	all := slices.AppendSeq([]string{}, maps.Keys(l.seen))
	slices.Sort(all)
	return all, nil
}

// Branches lists the branches of a project as received.
func (c *Client) Branches(ctx context.Context, project string) ([]json.RawMessage, error) {
	return c.listRefs(ctx, project, "branches")
}

// Tags lists the tags of a project as received.
func (c *Client) Tags(ctx context.Context, project string) ([]json.RawMessage, error) {
	return c.listRefs(ctx, project, "tags")
}

func (c *Client) listRefs(ctx context.Context, project, kind string) ([]json.RawMessage, error) {
	if err := refname.Project(project); err != nil {
		return nil, err
	}
	return askShared(ctx, c, &c.arrays, kind+" "+project, project, func(ctx context.Context) ([]json.RawMessage, error) {
		l := list{read: arrayPage(func(m *member) string { return m.Ref })}
		err := c.readPages(ctx, projectPath(project)+"/"+kind+"/?", &l)
		if fault.KindOf(err) == fault.NotFound {
			err = noProject(project)
		}
		return l.rawObjects(), err
	})
}

// askShared puts a question about a project for all who ask the same at the same time.
func askShared[T any](ctx context.Context, c *Client, g *together.Group[T], question, project string,
	ask func(context.Context) (T, error)) (T, error) {
	answer, err := g.Do(ctx, question, func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(
			context.WithValue(ctx, projectKey{}, project),
			c.o.Budget,
		)
		defer cancel()
		return ask(ctx)
	})
	return answer, c.explainError(ctx, err)
}

func noProject(project string) error {
	return fault.Device(fault.NotFound, "project %s was not found on the review server", project)
}

func projectPath(project string) string {
	return "projects/" + escapeSegment(project)
}

// escapeSegment writes a name as one segment of a path. The server takes a "+" there for
// a blank.
func escapeSegment(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "+", "%2B")
}

// list is what the pages of a list have, in their order.
type list struct {
	read func(page []byte) ([]object, error)
	// newestFirst: an object that changes goes to the head of the list, from where
	// later pages do not bring it.
	newestFirst bool

	objects []object
	seen    map[string]string // key → when it was updated
}

// object is an entry as received, with what must be known of it.
type object struct {
	raw          json.RawMessage
	key, updated string
	more         bool // the server's mark that more pages follow
}

func (l *list) reset() {
	l.objects, l.seen = nil, map[string]string{}
}

func (l *list) rawObjects() []json.RawMessage {
	out := make([]json.RawMessage, len(l.objects))
	for i, o := range l.objects {
		out[i] = o.raw
	}
	return out
}

// addPage takes what the list does not have yet.
func (l *list) addPage(body []byte) (step, error) {
	page, err := l.read(body)
	s := step{objects: len(page)}
	for _, o := range page {
		s.more = s.more || o.more
		if _, known := l.seen[o.key]; known && o.key != "" {
			s.overlap = true
			continue
		}
		s.news = true
		l.addObject(o)
	}
	return s, err
}

func (l *list) addObject(o object) {
	l.seen[o.key] = o.updated
	l.objects = append(l.objects, o)
}

// completeList sees the first page once more, asked for after the last one, and says whether the list is whole now. It
// puts in front what came to the head of the list while it was read. When that is a whole page or more, the list is
// not whole.
func (l *list) completeList(body []byte) (bool, error) {
	if !l.newestFirst {
		return true, nil
	}
	page, err := l.read(body)
	if err != nil {
		return false, err
	}
	var front list
	front.reset()
	for _, o := range page {
		at, known := l.seen[o.key]
		if !known || at != o.updated {
			front.addObject(o)
			continue
		}
		for _, old := range l.objects {
			if _, moved := front.seen[old.key]; !moved {
				front.addObject(old)
			}
		}
		l.objects, l.seen = front.objects, front.seen
		return true, nil
	}
	return false, nil
}
