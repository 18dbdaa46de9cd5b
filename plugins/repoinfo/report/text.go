package report

import (
	"fmt"
	"strings"
	"unicode"
)

// topProjects is how many projects the head of the text shows.
const topProjects = 20

// Text lays the report out for a terminal: totals, the largest projects, then
// the full lists.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "From %s to %s\n\n", clean(r.Ref2), clean(r.Ref1))
	for _, row := range []struct {
		name string
		n    uint64
	}{{"Commits", uint64(r.Commits)}, {"Lines", r.Lines}, {"Projects", uint64(len(r.Projects))}, {"Authors", uint64(len(r.Authors))},
		{"Organizations", uint64(len(r.Organizations))}, {"Time zones", uint64(len(r.TimeZones))}} {
		fmt.Fprintf(&b, "%-14s %d\n", row.name, row.n)
	}
	if r.Unknown > 0 {
		fmt.Fprintf(&b, "\n%d commits lack objects; their lines are not in the sums.\n", r.Unknown)
	}
	section(&b, fmt.Sprintf("Largest projects (%d)", topProjects), r.Projects[:min(topProjects, len(r.Projects))])
	section(&b, "Authors", r.Authors)
	section(&b, "Organizations", r.Organizations)
	section(&b, "Time zones", r.TimeZones)
	section(&b, "Co-authors", r.CoAuthors)
	if len(r.Projects) > topProjects {
		section(&b, "All projects", r.Projects)
	}
	if len(r.Failed) > 0 {
		b.WriteString("\nNot compared\n")
		for _, f := range r.Failed {
			fmt.Fprintf(&b, "  %s: %s\n", clean(f.Project), clean(f.Error))
		}
	}
	return b.String()
}

func section(b *strings.Builder, title string, list []Total) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n%10s %12s\n", title, "commits", "lines")
	for _, t := range list {
		fmt.Fprintf(b, "%10d %12d  %s\n", t.Commits, t.Lines, clean(t.Name))
	}
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
