package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"ctl.internal/sdk/commands"
)

// header are the columns of the CSV form; what a row does not have stays empty.
var header = []string{"section", "name", "email", "organization", "project", "commits", "insertions", "deletions",
	"authors", "projects", "new_authors", "first_commit", "last_commit", "merges", "lines", "organizations", "machine_commits", "commits_without_counts"}

// CSV writes all sections as rows of one table.
func (r *Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180
	row := func(columns map[string]string) {
		list := make([]string, len(header))
		for i, name := range header {
			list[i] = commands.CSVCell(columns[name])
		}
		_ = out.Write(list) // Error reports it
	}
	_ = out.Write(header)
	count := func(n uint64) string { return strconv.FormatUint(n, 10) }
	row(map[string]string{
		"section":                "total",
		"name":                   r.Title(),
		"commits":                strconv.Itoa(r.Commits),
		"insertions":             count(r.Insertions),
		"deletions":              count(r.Deletions),
		"authors":                strconv.Itoa(r.People),
		"projects":               strconv.Itoa(r.Compared),
		"merges":                 strconv.Itoa(r.Merges),
		"lines":                  count(r.Lines),
		"organizations":          strconv.Itoa(r.Employers),
		"machine_commits":        strconv.Itoa(r.MachineCommits),
		"commits_without_counts": strconv.Itoa(r.Unknown),
	})
	for _, l := range r.totalLists() {
		rows := l.rows
		if l.rest != nil {
			rows = append(slices.Clone(rows), l.rest)
		}
		for _, t := range rows {
			row(map[string]string{
				"section":      l.name,
				"name":         t.Name,
				"email":        t.Email,
				"organization": t.Organization,
				"project":      t.Project,
				"commits":      strconv.Itoa(t.Commits),
				"insertions":   count(t.Insertions),
				"deletions":    count(t.Deletions),
				"authors":      formatNonZero(t.Authors),
				"projects":     formatNonZero(t.Projects),
				"first_commit": formatTime(t.First),
				"last_commit":  formatTime(t.Last),
			})
		}
	}
	if t := r.Timeline; t != nil {
		point := func(project string, p *Point) {
			row(map[string]string{
				"section":     t.Interval,
				"name":        p.Start,
				"project":     project,
				"commits":     strconv.Itoa(p.Commits),
				"insertions":  count(p.Insertions),
				"deletions":   count(p.Deletions),
				"authors":     strconv.Itoa(p.Authors),
				"new_authors": strconv.Itoa(p.New),
			})
		}
		for _, p := range t.rows() {
			point("", p)
		}
		for _, l := range sortedKeys(t.Projects) {
			for i := range t.Projects[l] {
				point(l, &t.Projects[l][i])
			}
		}
	}
	if a := r.Activity; a != nil {
		for d, hours := range a.Hours {
			for h, n := range hours {
				row(map[string]string{
					"section": "hour",
					"name":    fmt.Sprintf("%s %02d:00", weekdays[d], h),
					"commits": strconv.Itoa(n),
				})
			}
		}
	}
	for _, f := range r.Failed {
		row(map[string]string{
			"section": "failed",
			"name":    f.Error,
			"project": f.Project,
		})
	}
	out.Flush()
	return out.Error()
}

func formatNonZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func formatTime(when int64) string {
	if when == 0 {
		return ""
	}
	return time.Unix(when, 0).UTC().Format(time.RFC3339)
}
