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

// names are the keys of a map of projects.
type names struct{ seen map[string]bool }

func (p *names) reset() { p.seen = map[string]bool{} }

func (p *names) add(body []byte) (step, error) {
	page, err := projectPage(body)
	s := step{objects: len(page)}
	for name, last := range page {
		s.more = s.more || last
		s.overlap = s.overlap || p.seen[name]
		s.news = s.news || !p.seen[name]
		p.seen[name] = true
	}
	return s, err
}

func (p *names) complete([]byte) (bool, error) { return true, nil } // they are sorted by name

// member is what must be known of an object.
type member struct {
	Ref     string      `json:"ref"`
	Number  json.Number `json:"_number"`
	Updated string      `json:"updated"`
	More    bool        `json:"_more_changes"`
}

// list is an array of objects as received.
type list struct {
	key func(*member) string
	// newestFirst: an object that changes goes to the head of the list, from where
	// later pages do not bring it.
	newestFirst bool

	objects []json.RawMessage
	keys    []string
	seen    map[string]string // key → when it was updated
}

func (l *list) reset() { l.objects, l.keys, l.seen = []json.RawMessage{}, nil, map[string]string{} }

// add takes what the list does not have yet.
func (l *list) add(body []byte) (step, error) {
	page, members, err := arrayPage(body)
	s := step{objects: len(page)}
	for i := range page {
		s.more = s.more || members[i].More
		k := l.key(&members[i])
		if _, known := l.seen[k]; known && k != "" {
			s.overlap = true
			continue
		}
		s.news = true
		l.take(page[i], k, members[i].Updated)
	}
	return s, err
}

func (l *list) take(object json.RawMessage, key, updated string) {
	l.seen[key] = updated
	l.objects, l.keys = append(l.objects, object), append(l.keys, key)
}

// complete puts in front what came to the head of the list while it was read. When
// that is a whole page or more, the list is not whole.
func (l *list) complete(body []byte) (bool, error) {
	if !l.newestFirst {
		return true, nil
	}
	page, members, err := arrayPage(body)
	if err != nil {
		return false, err
	}
	front := &list{key: l.key}
	front.reset()
	for i := range page {
		k := l.key(&members[i])
		if at, known := l.seen[k]; !known || at != members[i].Updated {
			front.take(page[i], k, members[i].Updated)
			continue
		}
		for j, k := range l.keys {
			if _, moved := front.seen[k]; !moved {
				front.take(l.objects[j], k, l.seen[k])
			}
		}
		*l = list{key: l.key, newestFirst: true, objects: front.objects, keys: front.keys, seen: front.seen}
		return true, nil
	}
	return false, nil
}
