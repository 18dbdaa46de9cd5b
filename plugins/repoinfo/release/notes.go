package release

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/report"
)

// GroupByProject groups notes by project; any other value is the name of a trailer.
const GroupByProject = "project"

// otherGroup is the group of the commits without the trailer.
const otherGroup = "Other"

// Notes are release notes. Commits that were reverted within the release, and the commits that reverted them, are in no
// list of them.
type Notes struct {
	Title         string              `json:"title"`
	Ref1          string              `json:"ref1"`
	Ref2          string              `json:"ref2"`
	GroupedBy     string              `json:"grouped_by"`
	Commits       int                 `json:"commits"`  // that are listed, those by machines included
	LeftOut       int                 `json:"left_out"` // Ref2 has the same changes
	Reverted      int                 `json:"reverted"` // with the commits that revert
	Groups        []Group             `json:"groups"`   // without the commits by machines
	Machines      []Entry             `json:"machines"` // commits by programs
	First         []FirstContribution `json:"first_contributions"`
	People        []Contribution      `json:"people"`
	Organizations []string            `json:"organizations"`
	Projects      []ProjectSpan       `json:"projects"`
	Failed        []report.Failed     `json:"failed"`
}

// Group is a part of the notes.
type Group struct {
	Name    string  `json:"name"`
	Entries []Entry `json:"entries"`
}

// FirstContribution is the first commit of somebody who is new.
type FirstContribution struct {
	Person
	Entry Entry `json:"commit"`
}

// Contribution is one who took part, with the number of commits.
type Contribution struct {
	Person
	Commits int `json:"commits"`
}

// ProjectSpan is what was read of a project.
type ProjectSpan struct {
	Project string `json:"project"`
	Tip     string `json:"tip"`
	Base    string `json:"base"`
}

// note is a commit of the notes.
type note struct {
	entry  Entry
	commit *report.Commit
}

// newNotes writes the notes of what was listed.
func newNotes(p *Plan, r *report.Report, listed map[string]*report.Listed) *Notes {
	n := &Notes{
		Title:         p.Title,
		Ref1:          r.Ref1,
		Ref2:          r.Ref2,
		GroupedBy:     p.Group,
		Machines:      []Entry{},
		First:         []FirstContribution{},
		People:        []Contribution{},
		Organizations: []string{},
		Projects:      []ProjectSpan{},
		Failed:        r.Failed,
	}
	if n.Title == "" {
		n.Title = "Release notes of " + r.Ref1
	}
	var notes []note
	for _, project := range slices.Sorted(maps.Keys(listed)) {
		l := listed[project]
		n.Projects = append(n.Projects, ProjectSpan{
			Project: project,
			Tip:     l.Tip,
			Base:    l.Base,
		})
		undoing := map[string]bool{}
		for _, c := range l.Commits {
			undoing[c.Undone] = true
		}
		for i := range l.Commits {
			c := &l.Commits[i]
			switch {
			case c.Same != nil:
				n.LeftOut++
			case c.Undone != "" || undoing[c.Hash]:
				n.Reverted++
			default:
				notes = append(notes, note{
					entry:  p.links.newEntry(project, c),
					commit: c,
				})
			}
		}
	}
	n.Commits = len(notes)
	n.addEntries(notes)
	n.addPeople(notes, r)
	return n
}

// addEntries sorts the commits into their groups.
func (n *Notes) addEntries(notes []note) {
	var persons []note
	for _, one := range notes {
		if one.entry.Machine {
			n.Machines = append(n.Machines, one.entry)
			continue
		}
		persons = append(persons, one)
	}
	n.Groups = groupEntries(persons, n.GroupedBy)
}

// groupEntries groups commits by project or by the first value of a trailer, whose spelling in the newest commit
// counts.
func groupEntries(notes []note, by string) []Group {
	entries := map[string][]Entry{}
	names := map[string]string{}
	for _, one := range notes {
		name := one.entry.Project
		if by != GroupByProject {
			name = firstTrailer(one.commit, by)
		}
		key := strings.ToLower(name)
		if names[key] == "" {
			names[key] = name
		}
		entries[key] = append(entries[key], one.entry)
	}
	groups := []Group{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if key != "" {
			groups = append(groups, Group{
				Name:    names[key],
				Entries: entries[key],
			})
		}
	}
	if rest := entries[""]; rest != nil {
		groups = append(groups, Group{
			Name:    otherGroup,
			Entries: rest,
		})
	}
	return groups
}

// firstTrailer is the value of the first trailer with a name, empty if there is none.
func firstTrailer(c *report.Commit, name string) string {
	for _, t := range c.Trailers {
		value := strings.TrimSpace(strings.ToValidUTF8(string(t.Value), "\uFFFD"))
		if bytes.EqualFold(t.Key, []byte(name)) && value != "" {
			return value
		}
	}
	return ""
}

// addPeople names those who took part, and those who did so for the first time.
func (n *Notes) addPeople(notes []note, r *report.Report) {
	contributions := map[string]*Contribution{}
	firsts := map[string]Entry{}
	organizations := map[string]bool{}
	for _, one := range notes {
		for _, a := range one.commit.Who {
			if a.Machine {
				continue
			}
			key := a.Key()
			if contributions[key] == nil {
				contributions[key] = &Contribution{Person: newPerson(a)}
			}
			contributions[key].Commits++
			if a.Organization != people.Unaffiliated {
				organizations[a.Organization] = true
			}
			first, known := firsts[key]
			if !known || one.entry.When <= first.When {
				firsts[key] = one.entry
			}
		}
	}
	for _, c := range contributions {
		n.People = append(n.People, *c)
	}
	slices.SortFunc(n.People, func(x, y Contribution) int {
		return cmp.Or(
			cmp.Compare(y.Commits, x.Commits),
			cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Email, y.Email),
		)
	})
	n.Organizations = append(n.Organizations, slices.Sorted(maps.Keys(organizations))...)
	for _, t := range r.Contributors.New {
		key := cmp.Or(t.Email, t.Name)
		if contributions[key] != nil {
			n.First = append(
				n.First,
				FirstContribution{
					Person: contributions[key].Person,
					Entry:  firsts[key],
				},
			)
		}
	}
	slices.SortFunc(n.First, func(x, y FirstContribution) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Email, y.Email))
	})
}
