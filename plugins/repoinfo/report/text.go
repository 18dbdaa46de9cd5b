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
		text = "From " + stripControls(r.Ref2) + " to " + stripControls(r.Ref1)
	case r.Branch != "":
		text = "Branch " + stripControls(r.Branch)
	}
	if r.Since != 0 {
		text += " since " + formatMoment(r.Since)
	}
	if r.Until != 0 {
		text += " until " + formatMoment(r.Until)
	}
	return text
}

func formatMoment(when int64) string {
	return time.Unix(when, 0).UTC().Format(time.DateTime) + " UTC"
}

// list is one section as a table.
type list struct {
	name, title string // of a row in the CSV form; of the whole
	member      string // in the JSON form
	rows        []*Total
	rest        *Total // what was cut off, nil = nothing
	size        int    // of the whole list
}

// heading is the title, with how much of the list is shown.
func (l *list) heading() string {
	if l.size > len(l.rows) {
		return fmt.Sprintf("%s (%d of %d)", l.title, len(l.rows), l.size)
	}
	return l.title
}

// totalLists are the sections that are lists of totals.
func (r *Report) totalLists() []list {
	all := []list{
		{
			name:   "project",
			member: "projects",
			title:  "Projects",
			rows:   r.Projects,
		},
		{
			name:   "author",
			member: "authors",
			title:  "Authors",
			rows:   r.Authors,
		},
		{
			name:   "organization",
			member: "organizations",
			title:  "Organizations",
			rows:   r.Organizations,
		},
		{
			name:   "time_zone",
			member: "time_zones",
			title:  "Time zones",
			rows:   r.TimeZones,
		},
		{
			name:   "co_author",
			member: "co_authors",
			title:  "Co-authors",
			rows:   r.CoAuthors,
		},
		{
			name:   "machine",
			member: "machines",
			title:  "Machines",
			rows:   r.Machines,
		},
	}
	if c := r.Contributors; c != nil {
		all = append(
			all,
			list{
				name:   "new",
				member: "new",
				title:  "New contributors",
				rows:   c.New,
			},
			list{
				name:   "lost",
				member: "lost",
				title:  "Lost contributors",
				rows:   c.Lost,
			},
		)
	}
	all = append(all, list{
		name:   "file",
		member: "files",
		title:  "Files that change most",
		rows:   r.Files,
	},
		list{
			name:   "directory",
			member: "directories",
			title:  "Folders that change most",
			rows:   r.Directories,
		})
	for i := range all {
		all[i].rest, all[i].size = r.Rests[all[i].member], max(r.Sizes[all[i].member], len(all[i].rows))
	}
	return all
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
	if r.Picked > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"%d commits are left out: %s has the same changes.",
				r.Picked,
				stripControls(r.Ref2),
			),
		)
	}
	if r.Uncompared > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"The changes of %d commits could not be compared: objects are missing.",
				r.Uncompared,
			),
		)
	}
	if r.MachineCommits > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"%d of the commits are by machines; machines are not among people and organizations.",
				r.MachineCommits,
			),
		)
	}
	if t := r.Timeline; t != nil && t.Unreadable != nil {
		notes = append(
			notes,
			fmt.Sprintf(
				"%d commits have an unreadable date; they are in no interval.",
				t.Unreadable.Commits,
			),
		)
	}
	if r.Unknown > 0 {
		notes = append(
			notes,
			fmt.Sprintf("%d commits lack objects; their lines are not in the sums.", r.Unknown),
		)
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
	return []figure{
		{"Commits", uint64(r.Commits)},
		{"by machines", uint64(r.MachineCommits)},
		{"Merges", uint64(r.Merges)},
		{"Insertions", r.Insertions},
		{"Deletions", r.Deletions},
		{"Lines", r.Lines},
		{"Projects", uint64(r.Compared)},
		{"Authors", uint64(r.People)},
		{"Organizations", uint64(r.Employers)},
	}
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
	for _, l := range r.totalLists() {
		if len(l.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n%10s %11s %11s  %-10s %-10s\n", l.heading(), "commits", "insertions", "deletions", "first",
			"last")
		for _, t := range l.rows {
			fmt.Fprintf(&b, "%10d %11d %11d  %s %s  %s\n", t.Commits, t.Insertions, t.Deletions, formatDay(t.First),
				formatDay(t.Last), t.label())
		}
	}
	if t := r.Timeline; t != nil {
		fmt.Fprintf(&b, "\nBy %s\n%-10s %10s %11s %11s %8s %5s\n", t.Interval, "start", "commits", "insertions",
			"deletions", "authors", "new")
		for _, p := range t.rows() {
			fmt.Fprintf(&b, "%-10s %10d %11d %11d %8d %5d\n", stripControls(p.Start), p.Commits, p.Insertions, p.Deletions, p.Authors,
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
			fmt.Fprintf(&b, "  %s: %s\n", stripControls(f.Project), stripControls(f.Error))
		}
	}
	return b.String()
}

var weekdays = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

func formatDay(when int64) string {
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
	return stripControls(text)
}

// stripControls keeps a name out of a repository from moving the cursor.
func stripControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
