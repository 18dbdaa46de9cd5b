// Package report sums commits up: over projects, people, organizations and time. It keeps
// totals only, never the commits.
package report

import (
	"cmp"
	"slices"

	"ctl.internal/plugins/repoinfo/commit"
)

// Report is the result. Lists are ordered by commits, then lines, then name; sections
// that were not asked for are absent.
type Report struct {
	Ref1       string `json:"ref1,omitempty"` // of a comparison
	Ref2       string `json:"ref2,omitempty"`
	Branch     string `json:"branch,omitempty"` // else; empty = each project's default
	Since      int64  `json:"since,omitempty"`
	Until      int64  `json:"until,omitempty"`
	MergeLines bool   `json:"merge_lines"` // lines of merges are in the sums

	Commits    int    `json:"commits"`
	Merges     int    `json:"merges"`
	Insertions uint64 `json:"insertions"`
	Deletions  uint64 `json:"deletions"`
	Lines      uint64 `json:"lines"`
	Unknown    int    `json:"commits_without_counts"`

	MachineCommits int `json:"machine_commits"` // of Commits, those whose author is no person

	// Of a report on what is new: commits left out because Ref2 has the same change, and those that could not be compared
	// because an object is missing.
	Picked     int `json:"picked_commits,omitempty"`
	Uncompared int `json:"uncompared_commits,omitempty"`

	People    int `json:"people"` // all of them, however many are listed
	Employers int `json:"organization_count"`
	// Sizes are the lengths of the lists before they were cut, by the member of each.
	Sizes map[string]int `json:"list_sizes"`

	Projects      []*Total      `json:"projects,omitzero"`
	Authors       []*Total      `json:"authors,omitzero"`
	Organizations []*Total      `json:"organizations,omitzero"`
	CoAuthors     []*Total      `json:"co_authors,omitzero"`
	Machines      []*Total      `json:"machines,omitzero"`
	TimeZones     []*Total      `json:"time_zones,omitzero"`
	Contributors  *Contributors `json:"contributors,omitempty"`
	Timeline      *Timeline     `json:"timeline,omitempty"`
	Activity      *Activity     `json:"activity,omitempty"`
	Files         []*Total      `json:"files,omitzero"`
	Directories   []*Total      `json:"directories,omitzero"`

	Compared int      `json:"compared"` // projects that were read
	Failed   []Failed `json:"failed"`

	// Rests are what was cut off the lists, added up, by the member of each.
	Rests map[string]*Total `json:"list_rests,omitempty"`
}

// Total is what one project, author, … contributed.
type Total struct {
	Name         string `json:"name"`
	Email        string `json:"email,omitempty"`
	Organization string `json:"organization,omitempty"` // of an author, by the latest commit
	Project      string `json:"project,omitempty"`      // of a file
	Commits      int    `json:"commits"`
	Insertions   uint64 `json:"insertions"`
	Deletions    uint64 `json:"deletions"`
	Lines        uint64 `json:"lines"`
	First        int64  `json:"first_commit"` // committed, seconds since the epoch; 0 = no readable date
	Last         int64  `json:"last_commit"`
	Projects     int    `json:"projects,omitempty"`
	Authors      int    `json:"authors,omitempty"`

	projects, authors set
	begin             string // interval of the first commit
}

// Contributors are those whose first commit of all lies in the period, and those who
// were active in the time before it, as long as the period, and not since.
type Contributors struct {
	New  []*Total `json:"new"`
	Lost []*Total `json:"lost"`
}

// Timeline is the course of time, over all and for each project.
type Timeline struct {
	Interval string             `json:"interval"`
	Points   []*Point           `json:"points"` // of every interval, those without commits included
	Projects map[string][]Point `json:"projects"`
	// Unreadable are the commits whose clock cannot have been right: they are in the sums and in no interval.
	Unreadable *Point `json:"unreadable,omitempty"`
}

// Point is one interval, named by its first day (UTC), or by a release.
type Point struct {
	Start      string `json:"start"`
	Commits    int    `json:"commits"`
	Insertions uint64 `json:"insertions"`
	Deletions  uint64 `json:"deletions"`
	Authors    int    `json:"authors"`
	New        int    `json:"new_authors"`
}

// Activity is when people work, by the clock of the author.
type Activity struct {
	Hours    [7][24]int `json:"hours"` // commits by weekday, Monday first, and hour
	Weekdays [7]int     `json:"weekdays"`
	// Unreadable are commits whose author had no right clock.
	Unreadable int `json:"unreadable_dates"`
}

// Failed is a project that could not be read. It is named, never counted as nothing.
type Failed struct {
	Project string `json:"project"`
	Error   string `json:"error"`
}

func byProject(x, y Failed) int {
	return cmp.Compare(x.Project, y.Project)
}

type set map[string]struct{}

func (s *set) addName(name string) {
	if *s == nil {
		*s = set{}
	}
	(*s)[name] = struct{}{}
}

// addLines adds one commit; when is 0 if its time cannot be read.
func (t *Total) addLines(when int64, l commit.Lines) {
	if when != 0 && (t.First == 0 || when < t.First) {
		t.First = when
	}
	t.Last = max(t.Last, when)
	t.Commits++
	t.Insertions += l.Insertions
	t.Deletions += l.Deletions
}

// merge adds another total of the same name.
func (t *Total) merge(o *Total) {
	if o.First != 0 && (t.First == 0 || o.First < t.First) || t.begin == "" {
		t.begin = o.begin
	}
	if o.First != 0 && (t.First == 0 || o.First < t.First) {
		t.First = o.First
	}
	if o.Last >= t.Last {
		t.Last, t.Name, t.Organization = o.Last, o.Name, o.Organization
	}
	t.Commits += o.Commits
	t.Insertions += o.Insertions
	t.Deletions += o.Deletions
	for p := range o.projects {
		t.projects.addName(p)
	}
	for a := range o.authors {
		t.authors.addName(a)
	}
}

// table are totals by what distinguishes them.
type table map[string]*Total

func (t *table) getTotal(key string) *Total {
	if *t == nil {
		*t = table{}
	}
	e := (*t)[key]
	if e == nil {
		e = &Total{Name: key}
		(*t)[key] = e
	}
	return e
}

func (t *table) merge(o table) {
	for key, e := range o {
		mine := t.getTotal(key)
		mine.Email, mine.Project = e.Email, e.Project
		mine.merge(e)
	}
}

// orderedTotals lists the totals.
func (t table) orderedTotals() []*Total {
	list := make([]*Total, 0, len(t))
	for _, e := range t {
		e.Lines, e.Projects, e.Authors = e.Insertions+e.Deletions, len(e.projects), len(e.authors)
		list = append(list, e)
	}
	slices.SortFunc(list, func(x, y *Total) int {
		return cmp.Or(cmp.Compare(y.Commits, x.Commits), cmp.Compare(y.Lines, x.Lines), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Email, y.Email), cmp.Compare(x.Project, y.Project))
	})
	return list
}
