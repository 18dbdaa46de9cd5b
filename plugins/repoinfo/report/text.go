package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Title says what the report is of.
func (r *Report) Title() string {
	text := "Default branches"
	switch {
	case r.Ref1 != "":
		text = "From " + clean(r.Ref2) + " to " + clean(r.Ref1)
	case r.Branch != "":
		text = "Branch " + clean(r.Branch)
	}
	if r.Since != 0 {
		text += " since " + moment(r.Since)
	}
	if r.Until != 0 {
		text += " until " + moment(r.Until)
	}
	return text
}

func moment(when int64) string { return time.Unix(when, 0).UTC().Format(time.DateTime) + " UTC" }

// list is one section as a table.
type list struct {
	name, title string
	rows        []*Total
}

// lists are the sections that are lists of totals.
func (r *Report) lists() []list {
	all := []list{{"project", "Projects", r.Projects}, {"author", "Authors", r.Authors},
		{"organization", "Organizations", r.Organizations},
		{"time_zone", "Time zones", r.TimeZones}, {"co_author", "Co-authors", r.CoAuthors}}
	if c := r.Contributors; c != nil {
		all = append(all, list{"new", "New contributors", c.New}, list{"lost", "Lost contributors", c.Lost})
	}
	return append(all, list{"file", "Files that change most", r.Files},
		list{"directory", "Folders that change most", r.Directories})
}

// Notes are the sentences that belong to the numbers.
func (r *Report) Notes() (notes []string) {
	if r.MergeLines {
		notes = append(notes, fmt.Sprintf("The lines of %d merges are counted too, against their first parents.",
			r.Merges))
	} else if r.Merges > 0 {
		notes = append(notes, fmt.Sprintf("%d of the commits are merges; their lines are not counted a second time.",
			r.Merges))
	}
	if r.Unknown > 0 {
		notes = append(notes, fmt.Sprintf("%d commits lack objects; their lines are not in the sums.", r.Unknown))
	}
	return notes
}

// figure is one number of the summary.
type figure struct {
	Name string
	N    uint64
}

// Figures are the numbers of the summary.
func (r *Report) Figures() []figure {
	return []figure{{"Commits", uint64(r.Commits)}, {"Merges", uint64(r.Merges)}, {"Insertions", r.Insertions},
		{"Deletions", r.Deletions},
		{"Lines", r.Lines}, {"Projects", uint64(r.Compared)},
		{"Authors", uint64(r.People)}, {"Organizations", uint64(r.Employers)}}
}

// Text lays the report out for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString(r.Title() + "\n\n")
	for _, f := range r.Figures() {
		fmt.Fprintf(&b, "%-14s %d\n", f.Name, f.N)
	}
	for _, n := range r.Notes() {
		b.WriteString("\n" + n + "\n")
	}
	for _, l := range r.lists() {
		if len(l.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n%10s %11s %11s  %-10s %-10s\n", l.title, "commits", "insertions", "deletions", "first",
			"last")
		for _, t := range l.rows {
			fmt.Fprintf(&b, "%10d %11d %11d  %s %s  %s\n", t.Commits, t.Insertions, t.Deletions, day(t.First),
				day(t.Last), t.label())
		}
	}
	if t := r.Timeline; t != nil {
		fmt.Fprintf(&b, "\nBy %s\n%-10s %10s %11s %11s %8s %5s\n", t.Interval, "start", "commits", "insertions",
			"deletions", "authors", "new")
		for _, p := range t.Points {
			fmt.Fprintf(&b, "%s %10d %11d %11d %8d %5d\n", p.Start, p.Commits, p.Insertions, p.Deletions, p.Authors,
				p.New)
		}
	}
	if a := r.Activity; a != nil {
		b.WriteString("\nCommits by weekday and hour of the author\n    ")
		for h := range 24 {
			fmt.Fprintf(&b, "%5d", h)
		}
		for d, hours := range a.Hours {
			b.WriteString("\n" + weekdays[d] + " ")
			for _, n := range hours {
				fmt.Fprintf(&b, "%5d", n)
			}
		}
		b.WriteString("\n")
	}
	if len(r.Failed) > 0 {
		b.WriteString("\nNot compared\n")
		for _, f := range r.Failed {
			fmt.Fprintf(&b, "  %s: %s\n", clean(f.Project), clean(f.Error))
		}
	}
	return b.String()
}

var weekdays = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

func day(when int64) string {
	if when == 0 {
		return strings.Repeat(" ", 10)
	}
	return time.Unix(when, 0).UTC().Format(time.DateOnly)
}

// label is how a total is shown to people.
func (t *Total) label() string {
	text := t.Name
	if t.Email != "" {
		text += " <" + t.Email + ">"
	}
	if t.Organization != "" {
		text += ", " + t.Organization
	}
	if t.Project != "" {
		text = t.Project + ": " + text
	}
	return clean(text)
}

// clean keeps a name out of a repository from moving the cursor.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
