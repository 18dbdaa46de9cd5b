package report

import (
	"bytes"
	"fmt"
	"slices"

	"ctl.internal/plugins/repoinfo/commit"
)

// finish orders what was counted and leaves out what was not asked for.
func (b *builder) finish(sections []string, limit int) *Report {
	r := &b.Report
	r.MergeLines, r.Since, r.Until = b.mergeLines, b.filter.Since, b.filter.Until
	r.Lines = r.Insertions + r.Deletions
	r.People, r.Employers = len(b.authors), len(b.organizations)
	slices.SortFunc(r.Failed, byProject)
	for _, s := range sections {
		switch s {
		case Projects:
			r.Projects = b.projects.ordered(limit)
		case Authors:
			r.Authors, r.CoAuthors = b.authors.ordered(limit), b.coAuthors.ordered(limit)
		case Organizations:
			r.Organizations = b.organizations.ordered(limit)
		case Zones:
			r.TimeZones = b.zones.ordered(limit)
		case Contributing:
			r.Contributors = b.contributors(limit)
		case TimelineOf:
			r.Timeline = b.timeline()
		case ActivityOf:
			r.Activity = &b.activity
		case Files:
			r.Files, r.Directories = b.files.ordered(limit), b.directories.ordered(limit)
		}
	}
	return r
}

func (b *builder) contributors(limit int) *Contributors {
	fresh, lost := table{}, table{}
	for key, e := range b.authors {
		if b.earlier[key] == nil {
			fresh[key] = e
		}
	}
	until := b.filter.Until
	if until == 0 {
		for _, e := range b.authors {
			until = max(until, e.Last)
		}
	}
	from := b.filter.Since - (until - b.filter.Since)
	for key, e := range b.earlier {
		if b.authors[key] == nil && b.filter.Since != 0 && e.Last >= from {
			lost[key] = e
		}
	}
	return &Contributors{New: fresh.ordered(limit), Lost: lost.ordered(limit)}
}

func (b *builder) timeline() *Timeline {
	t := &Timeline{Interval: b.interval, Points: []*Point{}, Projects: map[string][]Point{}}
	begun := map[string]int{} // people by the interval of their first commit
	for key, e := range b.authors {
		if b.earlier[key] == nil {
			begun[bucket(e.First, b.interval)]++
		}
	}
	for _, start := range sortedKeys(b.points) {
		p := b.points[start].point(begun[start])
		t.Points = append(t.Points, &p)
	}
	for project, points := range b.each {
		list := []Point{}
		for _, start := range sortedKeys(points) {
			fresh := 0
			for a := range points[start].authors {
				if e := b.authors[a]; b.earlier[a] == nil && len(e.projects) == 1 && bucket(e.First, b.interval) == start {
					fresh++
				}
			}
			list = append(list, points[start].point(fresh))
		}
		t.Projects[project] = list
	}
	return t
}

// point is the total of an interval.
func (t *Total) point(fresh int) Point {
	return Point{Start: t.Name, Commits: t.Commits, Insertions: t.Insertions, Deletions: t.Deletions, Authors: len(t.authors), New: fresh}
}

// zone writes an offset the way people do.
func zone(c *commit.Commit) string {
	if slices.Contains(c.Malformed, "author_zone") || slices.Contains(c.Malformed,
		"author_date") || slices.Contains(c.Malformed, "author") {
		return "(malformed)"
	}
	sign, east := '+', -c.Author.West
	if east < 0 {
		sign, east = '-', -east
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, east/3600, east%3600/60)
}

var trailers = [][]byte{[]byte("co-authored-by:"), []byte("also-by:")}

// coAuthors are the names and addresses of the lines that name further authors.
func coAuthors(message []byte) (found [][2][]byte) {
	for line := range bytes.Lines(message) {
		line = bytes.TrimSpace(line)
		for _, t := range trailers {
			if len(line) < len(t) || !bytes.EqualFold(line[:len(t)], t) {
				continue
			}
			name, email, ok := bytes.Cut(line[len(t):], []byte{'<'})
			if !ok {
				name, email = nil, name
			}
			email, _, _ = bytes.Cut(email, []byte{'>'})
			if email = bytes.TrimSpace(email); bytes.ContainsRune(email, '@') && len(email) <= 320 {
				found = append(found, [2][]byte{bytes.TrimSpace(name), email})
			}
		}
	}
	return found
}
