package report

import (
	"fmt"
	"slices"

	"ctl.internal/plugins/repoinfo/commit"
)

// finishReport orders what was counted and leaves out what was not asked for. Lists have at most limit entries, if that is not 0.
func (b *builder) finishReport(sections []string, limit int) (*Report, error) {
	r := &b.Report
	r.MergeLines, r.Since, r.Until = b.mergeLines, b.filter.Since, b.filter.Until
	r.Lines = r.Insertions + r.Deletions
	r.People, r.Employers = len(b.authors), len(b.organizations)
	r.Sizes, r.Rests = map[string]int{}, map[string]*Total{}
	slices.SortFunc(r.Failed, byProject)
	list := func(member string, t table) []*Total {
		return r.shortenList(member, t.orderedTotals(), limit)
	}
	for _, s := range sections {
		switch s {
		case Projects:
			r.Projects = list("projects", b.projects)
		case Authors:
			r.Authors, r.CoAuthors, r.Machines = list("authors", b.authors), list("co_authors", b.coAuthors), list("machines", b.machines)
		case Organizations:
			r.Organizations = list("organizations", b.organizations)
		case Zones:
			r.TimeZones = list("time_zones", b.zones)
		case Contributing:
			fresh, lost := b.contributorChanges()
			r.Contributors = &Contributors{
				New:  list("new", fresh),
				Lost: list("lost", lost),
			}
		case TimelineOf:
			var err error
			if r.Timeline, err = b.buildTimeline(); err != nil {
				return nil, err
			}
		case ActivityOf:
			r.Activity = &b.activity
		case Files:
			r.Files, r.Directories = list("files", b.files), list("directories", b.directories)
		}
	}
	return r, nil
}

// shortenList shortens a list and keeps the sum of what it leaves out.
func (r *Report) shortenList(member string, all []*Total, limit int) []*Total {
	r.Sizes[member] = len(all)
	if limit == 0 || len(all) <= limit {
		return all
	}
	rest := &Total{Name: fmt.Sprintf("(%d more)", len(all)-limit)}
	for _, t := range all[limit:] {
		rest.merge(&Total{
			Name:       rest.Name,
			Commits:    t.Commits,
			Insertions: t.Insertions,
			Deletions:  t.Deletions,
			First:      t.First,
			Last:       t.Last,
		})
	}
	r.Rests[member] = rest
	return all[:limit]
}

// contributorChanges are those who are new, and those who were active in the time just before and are not any more.
func (b *builder) contributorChanges() (fresh, lost table) {
	fresh, lost = table{}, table{}
	for key, e := range b.authors {
		if b.earlier[key] == nil {
			fresh[key] = e
		}
	}
	for key, e := range b.window {
		if b.authors[key] == nil {
			lost[key] = e
		}
	}
	return fresh, lost
}

// formatZone writes an offset the way people do.
func formatZone(c *commit.Commit) string {
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
