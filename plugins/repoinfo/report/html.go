package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
)

//go:embed report.html
var page string

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// HTML writes the report as one page that needs nothing else: no script, no other file.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{"day": day, "add": func(a, b int) int { return a + b },
		"mul": func(a, b int) int { return a * b }}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, view{r})
}

// view is the report as the page needs it.
type view struct{ *Report }

// Weekday names a row of the activity.
func (v view) Weekday(d int) string { return weekdays[d] }

// chartSize is the size of a chart in its own units.
const chartWidth, chartHeight = 900, 160

// Bar is one bar of a chart.
type Bar struct {
	X, Y, Width, Height float64
	Text                string
}

// Bars are the commits of the timeline.
func (v view) Bars() []Bar {
	if v.Timeline == nil || len(v.Timeline.Points) == 0 {
		return nil
	}
	most := 0
	for _, p := range v.Timeline.Points {
		most = max(most, p.Commits)
	}
	step := float64(chartWidth) / float64(len(v.Timeline.Points))
	bars := make([]Bar, len(v.Timeline.Points))
	for i, p := range v.Timeline.Points {
		h := float64(p.Commits) / float64(most) * chartHeight
		bars[i] = Bar{X: float64(i) * step, Y: chartHeight - h, Width: max(step*0.85, 0.5), Height: h,
			Text: pointText(p)}
	}
	return bars
}

// Sections are the lists, the longest ones cut; Share is the part of the largest row.
func (v view) Sections() []section {
	var all []section
	for _, l := range v.lists() {
		if len(l.rows) == 0 {
			continue
		}
		s := section{Title: l.title, Count: len(l.rows)}
		for _, t := range l.rows[:min(len(l.rows), maxRows)] {
			s.Rows = append(s.Rows, row{Total: t, Label: t.label(), Share: 100 * t.Commits / max(1, l.rows[0].Commits)})
		}
		all = append(all, s)
	}
	return all
}

// maxRows of one list are shown on the page; the CSV and JSON forms have all.
const maxRows = 200

type section struct {
	Title string
	Count int
	Rows  []row
}

type row struct {
	*Total
	Label string
	Share int // percent of the largest
}

// Shade is the darkness of an hour, from 0 to 1.
func (v view) Shade(n int) float64 {
	most := 1
	for _, hours := range v.Activity.Hours {
		most = max(most, slices.Max(hours[:]))
	}
	return float64(n) / float64(most)
}

func pointText(p *Point) string {
	return fmt.Sprintf("%s: %d commits, %d insertions, %d deletions, %d authors, %d of them new", p.Start, p.Commits,
		p.Insertions, p.Deletions, p.Authors, p.New)
}
