package release

import (
	"maps"
	"slices"

	"ctl.internal/plugins/repoinfo/picks"
	"ctl.internal/plugins/repoinfo/report"
)

// News is what one reference has and another one has not.
type News struct {
	Ref1       string          `json:"ref1,omitempty"` // empty = each project's default branch
	Ref2       string          `json:"ref2"`
	Commits    int             `json:"commits"`
	LeftOut    int             `json:"left_out"`           // Ref2 has the same changes
	Uncompared int             `json:"uncompared_commits"` // their patches, because an object is missing
	Projects   []ProjectNews   `json:"projects"`
	Failed     []report.Failed `json:"failed"`
}

// ProjectNews are those of one project.
type ProjectNews struct {
	Project string   `json:"project"`
	Tip     string   `json:"tip"`
	Base    string   `json:"base"`
	Commits []Entry  `json:"commits"`
	LeftOut []Picked `json:"left_out"`
}

// Picked is a commit that the other reference has too, under another hash.
type Picked struct {
	Entry
	SameAs  string       `json:"same_as"`
	SameURL string       `json:"same_url,omitempty"`
	Reason  picks.Reason `json:"reason"`
}

// newNews sorts the commits of a list by whether they are new.
func newNews(r *report.Report, listed map[string]*report.Listed, links Links) *News {
	n := &News{
		Ref1:       r.Ref1,
		Ref2:       r.Ref2,
		Uncompared: r.Uncompared,
		Projects:   []ProjectNews{},
		Failed:     r.Failed,
	}
	for _, project := range slices.Sorted(maps.Keys(listed)) {
		l := listed[project]
		p := ProjectNews{
			Project: project,
			Tip:     l.Tip,
			Base:    l.Base,
			Commits: []Entry{},
			LeftOut: []Picked{},
		}
		for i := range l.Commits {
			c := &l.Commits[i]
			e := links.newEntry(project, c)
			if c.Same == nil {
				p.Commits = append(p.Commits, e)
				continue
			}
			p.LeftOut = append(p.LeftOut, Picked{
				Entry:   e,
				SameAs:  c.Same.Hash,
				SameURL: links.commitURL(project, c.Same.Hash),
				Reason:  c.Same.Reason,
			})
		}
		n.Commits += len(p.Commits)
		n.LeftOut += len(p.LeftOut)
		n.Projects = append(n.Projects, p)
	}
	return n
}
