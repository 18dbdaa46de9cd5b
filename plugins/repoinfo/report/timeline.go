package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/sdk/fault"
)

// Intervals of a timeline.
var Intervals = []string{"day", "week", "month", "quarter", "year", byRelease}

// byRelease is the interval whose points are releases: each commit belongs to the first tag that has it.
const byRelease = "release"

// Names of what has no day and no release of its own.
const (
	unreadableDate = "(unreadable date)"
	unreleased     = "(unreleased)"
)

// maxPoints bounds a timeline with all its projects.
const maxPoints = 200_000

// Times before it are those of a clock that was never set (1970), as are those of the first day of 1980, where the clock
// of a PC begins.
var (
	clocksAreSet = time.Date(1971, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	pcClocks     = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// oneDay in seconds: so far a clock may be ahead of ours.
const oneDay = 24 * 60 * 60

// isReadableTime reports whether a time of a commit can be true.
func isReadableTime(when, now int64) bool {
	return when >= clocksAreSet &&
		(when < pcClocks || when >= pcClocks+oneDay) &&
		when <= now+oneDay
}

// committedAt is the time at which a commit was committed, 0 if it cannot be read.
func (s *shape) committedAt(c *commit.Commit) int64 {
	if isReadableTime(c.Committer.When, s.now) {
		return c.Committer.When
	}
	return 0
}

// intervalName names the interval that a commit lies in.
func (b *builder) intervalName(c *commit.Commit) string {
	if b.interval == byRelease {
		if i, released := b.released[string(c.Hash)]; released {
			return b.releases[i].Name
		}
		return unreleased
	}
	when := b.committedAt(c)
	if when == 0 {
		return unreadableDate
	}
	return intervalBeginning(time.Unix(when, 0).UTC(), b.interval).Format(time.DateOnly)
}

// intervalBeginning is the first day of the interval that a time lies in.
func intervalBeginning(t time.Time, interval string) time.Time {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch interval {
	case "week":
		return day.AddDate(0, 0, -((int(t.Weekday()) + 6) % 7))
	case "month":
		return day.AddDate(0, 0, 1-t.Day())
	case "quarter":
		return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		return time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

// nextInterval is the first day of the interval after the one that begins at t.
func nextInterval(t time.Time, interval string) time.Time {
	switch interval {
	case "week":
		return t.AddDate(0, 0, 7)
	case "month":
		return t.AddDate(0, 1, 0)
	case "quarter":
		return t.AddDate(0, 3, 0)
	case "year":
		return t.AddDate(1, 0, 0)
	}
	return t.AddDate(0, 0, 1)
}

// intervalNames are the names of all intervals from the first to the last one of a table, those without commits included.
func (b *builder) intervalNames(points table) []string {
	if b.interval == byRelease {
		return b.releaseNames(points)
	}
	names := slices.Sorted(maps.Keys(points))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == unreadableDate
	})
	if len(names) == 0 {
		return nil
	}
	var all []string
	last := names[len(names)-1]
	t, err := time.Parse(time.DateOnly, names[0])
	for ; err == nil && t.Format(time.DateOnly) <= last && len(all) <= maxPoints; t = nextInterval(t, b.interval) {
		all = append(all, t.Format(time.DateOnly))
	}
	return all
}

// releaseNames are the releases from the first to the last one that a table has, by their dates, and what is unreleased.
func (b *builder) releaseNames(points table) []string {
	dates := map[string]int64{}
	for _, r := range b.releases {
		when, known := dates[r.Name]
		if !known || r.When < when {
			dates[r.Name] = r.When
		}
	}
	all := slices.SortedFunc(maps.Keys(dates), func(x, y string) int {
		return cmp.Or(cmp.Compare(dates[x], dates[y]), cmp.Compare(x, y))
	})
	has := func(name string) bool { return points[name] != nil }
	first := slices.IndexFunc(all, has)
	if first < 0 {
		all = nil
	} else {
		last := len(all) - 1
		for !has(all[last]) {
			last--
		}
		all = all[first : last+1]
	}
	if has(unreleased) {
		all = append(all, unreleased)
	}
	return all
}

// buildTimeline makes the points of all intervals, over all and for each project.
func (b *builder) buildTimeline() (*Timeline, error) {
	t := &Timeline{
		Interval: b.interval,
		Points:   []*Point{},
		Projects: map[string][]Point{},
	}
	begun := map[string]int{}              // people by the interval of their first commit
	begunIn := map[string]map[string]int{} // the same of those of one project only
	for key, e := range b.authors {
		if b.earlier[key] != nil {
			continue
		}
		begun[e.begin]++
		if len(e.projects) == 1 {
			for project := range e.projects {
				if begunIn[project] == nil {
					begunIn[project] = map[string]int{}
				}
				begunIn[project][e.begin]++
			}
		}
	}
	for _, start := range b.intervalNames(b.points) {
		p := pointOfTotal(start, b.points[start], begun[start])
		t.Points = append(t.Points, &p)
	}
	total := len(t.Points)
	for project, points := range b.each {
		list := []Point{}
		for _, start := range b.intervalNames(points) {
			list = append(list, pointOfTotal(start, points[start], begunIn[project][start]))
		}
		if total += len(list); total > maxPoints {
			return nil, fault.New(
				fault.TooBig,
				"the timeline has more than %d points: choose a longer interval, or fewer projects",
				maxPoints,
			)
		}
		t.Projects[project] = list
	}
	if e := b.points[unreadableDate]; e != nil {
		p := pointOfTotal(unreadableDate, e, begun[unreadableDate])
		t.Unreadable = &p
	}
	return t, nil
}

// pointOfTotal is the total of an interval; nil is one without commits.
func pointOfTotal(start string, t *Total, fresh int) Point {
	if t == nil {
		return Point{Start: start}
	}
	return Point{
		Start:      start,
		Commits:    t.Commits,
		Insertions: t.Insertions,
		Deletions:  t.Deletions,
		Authors:    len(t.authors),
		New:        fresh,
	}
}

// rows are the points, and after them the commits without a readable date.
func (t *Timeline) rows() []*Point {
	if t.Unreadable == nil {
		return t.Points
	}
	return append(slices.Clone(t.Points), t.Unreadable)
}
