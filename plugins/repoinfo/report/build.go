package report

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/sdk/fault"
)

// Sections of a report.
const (
	Projects      = "projects"
	Authors       = "authors"
	Organizations = "organizations"
	Contributing  = "contributors"
	TimelineOf    = "timeline"
	ActivityOf    = "activity"
	Zones         = "time_zones"
	Files         = "files"
)

// shape is what a builder does with commits.
type shape struct {
	interval   string
	mergeLines bool
	filter     commit.Filter // Since and Until: the period
	lostSince  int64         // who was active from here to Since, and not since, is lost
	now        int64         // seconds since the epoch: no commit is from much later
}

// builder adds the commits of one project, then those of others, up.
type builder struct {
	shape
	Report
	projects, authors, organizations, coAuthors, machines, zones, files, directories table

	points   table            // by the start of an interval
	each     map[string]table // the same, by project
	activity Activity
	earlier  table // people with commits before the period
	window   table // people with commits in the time before the period that is as long as it

	releases []history.Release
	released map[string]int // index in releases by commit, of the project that is read

	listed map[string]*Listed // by project; nil: commits are not listed
}

// Author is one who has a part in a commit.
type Author struct {
	people.Person
	Organization string
	Machine      bool
}

// addCommit counts one commit of the period; who are its author and then its co-authors. Machines are counted apart from people
// and organizations.
func (b *builder) addCommit(project string, c *commit.Commit, who []Author) error {
	lines := b.countedLines(c)
	start := b.intervalName(c)
	if c.Parents > 1 {
		b.Merges++
	}
	if c.State == commit.Unknown && (c.Parents < 2 || b.mergeLines) {
		b.Unknown++
	}
	if who[0].Machine {
		b.MachineCommits++
	}
	when := b.committedAt(c)
	b.Commits++
	b.Insertions += lines.Insertions
	b.Deletions += lines.Deletions
	p := b.projects.getTotal(project)
	p.addLines(when, lines)
	var seen []string
	var persons []string
	for i, a := range who {
		key := a.Key()
		if a.Machine {
			b.addPerson(&b.machines, a, project, start, when, lines)
			continue
		}
		persons = append(persons, key)
		p.authors.addName(key)
		b.addPerson(&b.authors, a, project, start, when, lines)
		if i > 0 {
			b.addPerson(&b.coAuthors, a, project, start, when, lines)
		}
		o := b.organizations.getTotal(a.Organization)
		o.projects.addName(project)
		o.authors.addName(key)
		if !slices.Contains(seen, a.Organization) {
			seen = append(seen, a.Organization)
			o.addLines(when, lines)
		}
	}
	b.zones.getTotal(formatZone(c)).addLines(when, lines)
	b.addTimeline(project, start, c, persons, lines)
	return b.addPaths(project, c, persons)
}

// countedLines are the lines of a commit that count: those of merges are in the merged commits.
func (b *builder) countedLines(c *commit.Commit) commit.Lines {
	if c.Parents > 1 && !b.mergeLines {
		return commit.Lines{}
	}
	return c.Lines
}

func (b *builder) addPerson(
	t *table,
	a Author,
	project, start string,
	when int64,
	lines commit.Lines,
) {
	e := t.getTotal(a.Key())
	if e.Commits == 0 || when >= e.Last {
		e.Name, e.Email = a.Name, a.Email
		if !a.Machine {
			e.Organization = a.Organization
		}
	}
	if e.Commits == 0 || when < e.First {
		e.begin = start
	}
	e.projects.addName(project)
	e.addLines(when, lines)
}

// addEarlier notes a commit from before the period: its authors are not new.
func (b *builder) addEarlier(c *commit.Commit, who []Author) {
	for _, a := range who {
		if !a.Machine {
			b.earlier.getTotal(a.Key())
		}
	}
}

// justBefore notes a commit from the time before the period that is as long as it.
func (b *builder) justBefore(project string, c *commit.Commit, who []Author) {
	for _, a := range who {
		if !a.Machine {
			b.addPerson(&b.window, a, project, "", b.committedAt(c), b.countedLines(c))
		}
	}
}

func (b *builder) addTimeline(
	project, start string,
	c *commit.Commit,
	persons []string,
	lines commit.Lines,
) {
	if b.each == nil {
		b.each = map[string]table{}
	}
	each := b.each[project]
	for _, points := range []*table{&b.points, &each} {
		p := points.getTotal(start)
		p.addLines(b.committedAt(c), lines)
		for _, key := range persons {
			p.authors.addName(key)
		}
	}
	b.each[project] = each
	if !isReadableTime(c.Author.When, b.now) {
		b.activity.Unreadable++
		return
	}
	local := time.Unix(c.Author.When-c.Author.West, 0).UTC()
	weekday := (int(local.Weekday()) + 6) % 7
	b.activity.Weekdays[weekday]++
	b.activity.Hours[weekday][local.Hour()]++
}

// maxFiles bounds the memory of one report.
const maxFiles = 500_000

func (b *builder) addPaths(project string, c *commit.Commit, persons []string) error {
	if c.Parents > 1 && !b.mergeLines {
		return nil
	}
	seen := set{}
	note := func(t *table, name string, l commit.Lines) {
		e := t.getTotal(project + "\x00" + name)
		e.Name, e.Project = strings.ToValidUTF8(name, "\uFFFD"), project
		for _, key := range persons[:min(1, len(persons))] {
			e.authors.addName(key)
		}
		if _, again := seen[name]; again { // a directory with several files of the commit
			e.Insertions += l.Insertions
			e.Deletions += l.Deletions
			return
		}
		seen.addName(name)
		e.addLines(b.committedAt(c), l)
	}
	for _, f := range c.Files {
		l := commit.Lines{
			Insertions: f.Insertions,
			Deletions:  f.Deletions,
		}
		note(&b.files, f.Path, l)
		for dir := path.Dir(f.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
			note(&b.directories, dir+"/", l)
		}
	}
	if len(b.files)+len(b.directories) > maxFiles {
		return fault.New(
			fault.TooBig,
			"project %s has more than %d files and directories: give a path",
			project,
			maxFiles,
		)
	}
	return nil
}

// merge adds what another builder has counted.
func (b *builder) merge(o *builder) {
	b.Commits += o.Commits
	b.Merges += o.Merges
	b.MachineCommits += o.MachineCommits
	b.Insertions += o.Insertions
	b.Deletions += o.Deletions
	b.Unknown += o.Unknown
	b.Compared++
	b.Picked += o.Picked
	b.Uncompared += o.Uncompared
	maps.Copy(b.listed, o.listed)
	for _, pair := range []struct{ to, from *table }{{&b.projects, &o.projects}, {&b.authors, &o.authors},
		{&b.organizations, &o.organizations}, {&b.coAuthors, &o.coAuthors}, {&b.zones, &o.zones},
		{&b.machines, &o.machines},
		{&b.files, &o.files}, {&b.directories, &o.directories}, {&b.earlier, &o.earlier}, {&b.window, &o.window}, {&b.points, &o.points}} {
		pair.to.merge(*pair.from)
	}
	b.releases = append(b.releases, o.releases...)
	b.activity.Unreadable += o.activity.Unreadable
	if b.each == nil {
		b.each = map[string]table{}
	}
	maps.Copy(b.each, o.each)
	for d := range o.activity.Hours {
		b.activity.Weekdays[d] += o.activity.Weekdays[d]
		for h := range o.activity.Hours[d] {
			b.activity.Hours[d][h] += o.activity.Hours[d][h]
		}
	}
}
