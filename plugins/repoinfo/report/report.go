package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/plugins/repoinfo/commit"
)

// Report is the result. Lists are ordered by commits, then lines, then name.
type Report struct {
	Ref1          string   `json:"ref1"`
	Ref2          string   `json:"ref2"`
	Commits       int      `json:"commits"`
	Lines         uint64   `json:"lines"`
	Unknown       int      `json:"commits_without_counts"`
	Projects      []Total  `json:"projects"`
	Authors       []Total  `json:"authors"`
	Organizations []Total  `json:"organizations"`
	TimeZones     []Total  `json:"time_zones"`
	CoAuthors     []Total  `json:"co_authors"`
	Failed        []Failed `json:"failed"`
}

// Total is what one project, author, … contributed.
type Total struct {
	Name    string `json:"name"`
	Commits int    `json:"commits"`
	Lines   uint64 `json:"lines"`
}

// Failed is a project that could not be compared. It is named, never counted as
// nothing.
type Failed struct {
	Project string `json:"project"`
	Error   string `json:"error"`
}

// Builder adds commits up. It keeps totals only, never the commits.
type Builder struct {
	commits, unknown int
	lines            uint64
	projects         table
	authors          table
	organizations    table
	zones            table
	coAuthors        table
}

type table map[string]*Total

func (t *table) add(name string, lines uint64) {
	if *t == nil {
		*t = table{}
	}
	e := (*t)[name]
	if e == nil {
		e = &Total{Name: name}
		(*t)[name] = e
	}
	e.Commits++
	e.Lines += lines
}

// Add counts one commit of a project.
func (b *Builder) Add(project string, c *commit.Commit) {
	lines := c.Lines.Total()
	if c.State != commit.Known {
		lines = 0
		b.unknown++
	}
	b.commits++
	b.lines += lines
	email := strings.ToLower(string(c.AuthorEmail))
	b.projects.add(project, lines)
	b.authors.add(person(email), lines)
	organizations := []string{string(commit.Organization([]byte(email)))}
	for _, co := range coAuthors(c.Message) {
		if co == email {
			continue // named twice, counted once
		}
		b.coAuthors.add(co, lines)
		b.authors.add(co, lines)
		if o := string(commit.Organization([]byte(co))); !slices.Contains(organizations, o) {
			organizations = append(organizations, o)
		}
	}
	for _, o := range organizations {
		b.organizations.add(person(o), lines)
	}
	_, west := commit.When(c.AuthorDate)
	b.zones.add(zone(west), lines)
}

// Merge adds what another builder has counted.
func (b *Builder) Merge(o *Builder) {
	b.commits += o.commits
	b.unknown += o.unknown
	b.lines += o.lines
	for _, pair := range []struct{ to, from *table }{{&b.projects, &o.projects}, {&b.authors, &o.authors},
		{&b.organizations, &o.organizations}, {&b.zones, &o.zones}, {&b.coAuthors, &o.coAuthors}} {
		for name, t := range *pair.from {
			pair.to.add(name, t.Lines)
			(*pair.to)[name].Commits += t.Commits - 1
		}
	}
}

// Report orders what was counted.
func (b *Builder) Report(ref1, ref2 string, failed []Failed) *Report {
	slices.SortFunc(failed, func(x, y Failed) int { return cmp.Compare(x.Project, y.Project) })
	return &Report{Ref1: ref1, Ref2: ref2, Commits: b.commits, Lines: b.lines, Unknown: b.unknown,
		Projects: b.projects.ordered(), Authors: b.authors.ordered(), Organizations: b.organizations.ordered(),
		TimeZones: b.zones.ordered(), CoAuthors: b.coAuthors.ordered(), Failed: append([]Failed{}, failed...)}
}

func (t table) ordered() []Total {
	list := make([]Total, 0, len(t))
	for _, e := range t {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(x, y Total) int {
		return cmp.Or(cmp.Compare(y.Commits, x.Commits), cmp.Compare(y.Lines, x.Lines), cmp.Compare(x.Name, y.Name))
	})
	return list
}

func person(email string) string {
	if email == "" {
		return "(none)"
	}
	return strings.ToValidUTF8(email, "\uFFFD")
}

// zone writes an offset west of UTC the way people do.
func zone(west int64) string {
	sign := '+'
	if west > 0 {
		sign = '-'
	}
	east := max(west, -west)
	return fmt.Sprintf("UTC%c%02d:%02d", sign, east/3600, east%3600/60)
}

var trailers = [][]byte{[]byte("co-authored-by:"), []byte("also-by:")}

// coAuthors are the e-mail addresses of the lines that name further authors,
// each once, in lower case.
func coAuthors(message []byte) []string {
	var found []string
	for line := range bytes.Lines(message) {
		line = bytes.TrimSpace(line)
		for _, t := range trailers {
			if len(line) < len(t) || !bytes.EqualFold(line[:len(t)], t) {
				continue
			}
			if email := address(line[len(t):]); email != "" && !slices.Contains(found, email) {
				found = append(found, email)
			}
		}
	}
	return found
}

func address(text []byte) string {
	if _, rest, ok := bytes.Cut(text, []byte{'<'}); ok {
		text, _, _ = bytes.Cut(rest, []byte{'>'})
	}
	text = bytes.TrimSpace(text)
	if !bytes.ContainsRune(text, '@') || len(text) > 320 {
		return ""
	}
	return strings.ToLower(strings.ToValidUTF8(string(text), "\uFFFD"))
}
