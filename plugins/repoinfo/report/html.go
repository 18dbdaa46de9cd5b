package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
)

//go:embed report.html
var page string

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// HTML writes the report as one page that needs nothing else: no script, no other file.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"day": formatDay,
		"add": func(a, b int) int { return a + b },
		"mul": func(a, b int) int { return a * b },
	}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, view{r})
}

// view is the report as the page needs it.
type view struct{ *Report }

// Weekday names a row of the activity.
func (v view) Weekday(d int) string { return weekdays[d] }

// Sizes of a chart in its own units: the field of the bars, and around it room for the numbers of the axes.
const (
	chartWidth, chartHeight = 900.0, 160.0
	chartLeft, chartBottom  = 56.0, 34.0
	chartTop, chartRight    = 8.0, 40.0
)

// Chart is a chart of bars over time.
type Chart struct {
	Width, Height float64 // of the whole
	Left, Bottom  float64 // where the axes cross
	Right, Top    float64 // where they end
	Bars          []Bar
	Lines         []Mark // of the axis of values
	Names         []Mark // of the axis of time
}

// Bar is one bar of a chart.
type Bar struct {
	X, Y, Width, Height float64
	Text                string
}

// Mark is a number or a name at an axis.
type Mark struct {
	At   float64
	Text string
}

// maxNames is how many intervals are named below a chart.
const maxNames = 9

// Chart draws the commits of the timeline.
func (v view) Chart() *Chart {
	if v.Timeline == nil || len(v.Timeline.Points) == 0 {
		return nil
	}
	points := v.Timeline.Points
	most := 1
	for _, p := range points {
		most = max(most, p.Commits)
	}
	c := &Chart{
		Width:  chartLeft + chartWidth + chartRight,
		Height: chartTop + chartHeight + chartBottom,
		Left:   chartLeft,
		Bottom: chartTop + chartHeight,
		Right:  chartLeft + chartWidth,
		Top:    chartTop,
	}
	tick := niceStep(most)
	scale := chartHeight / float64((most+tick-1)/tick*tick)
	for value := 0; value < most+tick; value += tick {
		c.Lines = append(
			c.Lines,
			Mark{
				At:   c.Bottom - float64(value)*scale,
				Text: strconv.Itoa(value),
			},
		)
	}
	step := chartWidth / float64(len(points))
	every := (len(points) + maxNames - 1) / maxNames
	for i, p := range points {
		height := float64(p.Commits) * scale
		x := chartLeft + float64(i)*step
		c.Bars = append(
			c.Bars,
			Bar{
				X:      x,
				Y:      c.Bottom - height,
				Width:  max(step*0.85, 0.5),
				Height: height,
				Text:   pointText(p),
			},
		)
		if i%every == 0 {
			c.Names = append(c.Names, Mark{
				At:   x + step/2,
				Text: stripControls(p.Start),
			})
		}
	}
	return c
}

// niceStep is the distance of the numbers at an axis: 1, 2 or 5 times a power of ten, so that there are at most five.
func niceStep(most int) int {
	for step := 1; ; step *= 10 {
		for _, factor := range []int{1, 2, 5} {
			if step*factor*5 >= most {
				return step * factor
			}
		}
	}
}

// Sections are the lists, the longest ones cut; Share is the part of the largest row.
func (v view) Sections() []section {
	var all []section
	for _, l := range v.totalLists() {
		if len(l.rows) == 0 {
			continue
		}
		shown := l
		shown.rows = l.rows[:min(len(l.rows), maxRows)]
		s := section{Title: shown.heading()}
		for _, t := range shown.rows {
			s.Rows = append(
				s.Rows,
				row{
					Total: t,
					Label: t.label(),
					Share: 100 * t.Commits / max(1, l.rows[0].Commits),
				},
			)
		}
		all = append(all, s)
	}
	return all
}

// maxRows of one list are shown on the page; the CSV and JSON forms have all.
const maxRows = 200

type section struct {
	Title string
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
