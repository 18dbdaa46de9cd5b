package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/people"
)

// seconds is a time of a day.
func seconds(t *testing.T, day string) int64 {
	t.Helper()
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return d.Unix() + 10*3600
}

func namesOf(list []*Total) string {
	var all []string
	for _, e := range list {
		all = append(all, fmt.Sprintf("%s %d", e.Name, e.Commits))
	}
	return strings.Join(all, ", ")
}

// Programs are counted apart: never among people, organizations and newcomers, whoever they are named beside.
func TestMachinesAreCountedApart(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	for i, c := range []struct{ who, message string }{
		{"Ann <ann@corp.example>", "one\n"},
		{"dependabot[bot] <1+dependabot[bot]@users.noreply.github.com>", "two\n"},
		{"Ann <ann@corp.example>", "three\n\nCo-authored-by: An Assistant <noreply@assistant.example>\n"},
		{"dependabot[bot] <1+dependabot[bot]@users.noreply.github.com>", "four\n\nCo-authored-by: Bob <bob@corp.example>\n"},
	} {
		s.Add(gittest.Commit{Root: i == 0, Author: c.who, Message: c.message, When: seconds(t, "2020-01-01") + int64(i), Files: map[string]string{"f": fmt.Sprint(i)}})
	}
	g.Import(s.String())
	m := maker(t, dir, "", "")
	patterns, err := people.NewMachines([]string{"*[bot]@*", "noreply@*"})
	if err != nil {
		t.Fatal(err)
	}
	m.People.Machines = patterns
	r, err := m.all(t, Request{})
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string][2]string{
		"authors":       {namesOf(r.Authors), "Ann 2, Bob 1"},
		"machines":      {namesOf(r.Machines), "dependabot[bot] 2, An Assistant 1"},
		"organizations": {namesOf(r.Organizations), "corp.example 3"},
		"co-authors":    {namesOf(r.CoAuthors), "Bob 1"},
		"new":           {namesOf(r.Contributors.New), "Ann 2, Bob 1"},
		"sums":          {fmt.Sprintf("%d commits, %d by machines, %d people", r.Commits, r.MachineCommits, r.People), "4 commits, 2 by machines, 2 people"},
		"timeline":      {fmt.Sprintf("%d by %d", r.Timeline.Points[0].Commits, r.Timeline.Points[0].Authors), "4 by 2"},
	} {
		if row[0] != row[1] {
			t.Errorf("%s: %s, want %s", name, row[0], row[1])
		}
	}
	if text := r.Text(); !strings.Contains(text, "2 of the commits are by machines") {
		t.Error(text)
	}
	everybody, err := m.all(t, Request{Machines: people.Machines{}})
	if err != nil || everybody.MachineCommits != 0 || everybody.People != 4 {
		t.Errorf("without machines %d people, %v", everybody.People, err)
	}
}

// Filters take the names that the report prints.
func TestFiltersKnowTheNamesOfTheReport(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	for i, c := range []struct{ who, message string }{
		{"ann <ann@old.example>", "one\n"}, {"Ann <ann@real.example>", "two\n"}, {"Bob <bob@example.org>", "three\n"}, {"Cy <cy@x.example>", "four\n\nCo-authored-by: Ann <ann@old.example>\n"},
	} {
		s.Add(gittest.Commit{Root: i == 0, Author: c.who, Message: c.message, When: seconds(t, "2020-01-01") + int64(i),
			Files: map[string]string{"f": fmt.Sprint(i), ".mailmap": "Ann Author <ann@real.example> <ann@old.example>\nAnn Author <ann@real.example>\n"}})
	}
	g.Import(s.String())
	file := filepath.Join(t.TempDir(), "affiliations")
	if err := os.WriteFile(file, []byte("bob@example.org Example Ltd\nreal.example Real GmbH\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := maker(t, dir, "", file)
	for filter, want := range map[commit.Filter]int{
		{Author: "ann@real.example"}:              3,
		{Author: "ANN@REAL.example"}:              3,
		{Author: "Ann Author"}:                    3,
		{Author: "Ann Author <ann@real.example>"}: 3,
		{Author: "ann@old.example"}:               0,
		{Organization: "Example Ltd"}:             1,
		{Organization: "real gmbh"}:               3,
		{Organization: "example.org"}:             0,
		{Organization: "x.example"}:               1,
		{Author: "Cy", Organization: "Real GmbH"}: 1,
	} {
		r, err := m.all(t, Request{Filter: filter})
		if err != nil || r.Commits != want {
			t.Errorf("%+v: %d commits, %v, want %d", filter, r.Commits, err, want)
		}
	}
	// Each row of the report is the answer of its own filter.
	r, err := m.all(t, Request{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Organizations {
		if one, err := m.all(t, Request{Filter: commit.Filter{Organization: o.Name}}); err != nil || one.Commits != o.Commits {
			t.Errorf("%s: %d commits, and %d by its filter, %v", o.Name, o.Commits, one.Commits, err)
		}
	}
	for _, a := range r.Authors {
		if one, err := m.all(t, Request{Filter: commit.Filter{Author: a.Email}}); err != nil || one.Commits != a.Commits {
			t.Errorf("%s: %d commits, and %d by its filter, %v", a.Email, a.Commits, one.Commits, err)
		}
	}
}

// points lists a timeline in short.
func points(r *Report) (all []string) {
	for _, p := range r.Timeline.Points {
		all = append(all, fmt.Sprintf("%s %d", p.Start, p.Commits))
	}
	return all
}

// A timeline has every interval, and a clock that cannot be right stretches none.
func TestTimelinesAreWhole(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	for i, when := range []int64{seconds(t, "2020-01-15"), 5, seconds(t, "1980-01-01"), 253402300799, time.Now().AddDate(3, 0, 0).Unix(), seconds(t, "2020-04-02")} {
		s.Add(gittest.Commit{Root: i == 0, Author: "Ann <ann@corp.example>", When: when, Files: map[string]string{"f": fmt.Sprint(i)}})
	}
	g.Import(s.String())
	g.Git("tag", "v1", "master~4")
	g.Git("tag", "v2", "master")
	m := maker(t, dir, "", "")
	for interval, want := range map[string][]string{
		"month":   {"2020-01-01 1", "2020-02-01 0", "2020-03-01 0", "2020-04-01 1"},
		"quarter": {"2020-01-01 1", "2020-04-01 1"},
		"year":    {"2020-01-01 2"},
		"release": {"v1 2", "v2 4"},
	} {
		r, err := m.all(t, Request{Interval: interval})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, points(r)); diff != "" {
			t.Errorf("%s: %s", interval, diff)
		}
		if interval == "release" {
			continue
		}
		if u := r.Timeline.Unreadable; u == nil || u.Commits != 4 || r.Commits != 6 {
			t.Errorf("%s: unreadable %+v of %d", interval, u, r.Commits)
		}
		if a := r.Authors[0]; a.First != seconds(t, "2020-01-15") || a.Last != seconds(t, "2020-04-02") {
			t.Errorf("%s: from %d to %d", interval, a.First, a.Last)
		}
		var csv, html strings.Builder
		if err := r.CSV(&csv); err != nil {
			t.Fatal(err)
		}
		if err := r.HTML(&html); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(csv.String(), "\n"+interval+","); n != 2*len(want)+1 || !strings.Contains(csv.String(), interval+",(unreadable date),,,,4,") {
			t.Errorf("%s: %d rows in the table:\n%s", interval, n, csv.String())
		}
		if n := strings.Count(html.String(), `<rect class="bar"`); n != len(want) || !strings.Contains(html.String(), `<text class="value"`) || !strings.Contains(html.String(), `<text class="name"`) {
			t.Errorf("%s: %d bars", interval, n)
		}
	}
}

// A commit belongs to the first release that has it, those after the last one to none.
func TestTimelineByRelease(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	for i := range 10 {
		s.Add(gittest.Commit{Root: i == 0, Author: fmt.Sprintf("P%d <p%d@x.example>", i/4, i/4), When: seconds(t, "2020-01-01") + int64(i)*86400, Files: map[string]string{"f": fmt.Sprint(i)}})
	}
	g.Import(s.String())
	g.Git("tag", "v1.0", "master~7")
	g.Git("tag", "v1.1", "master~7") // nothing new
	g.Git("tag", "v2.0", "master~2")
	r, err := maker(t, dir, "", "").all(t, Request{Interval: "release"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"v1.0 3", "v1.1 0", "v2.0 5", "(unreleased) 2"}, points(r)); diff != "" {
		t.Error(diff)
	}
	if p := r.Timeline.Points; p[0].New != 1 || p[2].New != 1 || p[3].New != 1 {
		t.Errorf("new: %d, %d, %d", p[0].New, p[2].New, p[3].New)
	}
}

// New is who was not in the whole history before, whatever path is asked for.
func TestNewInTheWholeHistory(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	for i, c := range []struct{ who, file, day string }{
		{"Ann <ann@x.example>", "a", "2020-01-01"}, {"Bob <bob@x.example>", "b", "2020-01-02"}, {"Bob <bob@x.example>", "a", "2021-01-01"}, {"Cy <cy@x.example>", "a", "2021-01-02"},
	} {
		s.Add(gittest.Commit{Root: i == 0, Author: c.who, When: seconds(t, c.day), Files: map[string]string{c.file: fmt.Sprint(i)}})
	}
	g.Import(s.String())
	m := maker(t, dir, "", "")
	filter := commit.Filter{Since: seconds(t, "2021-01-01") - 10*3600}
	for mode, want := range map[string]string{NewInHistory: "Cy 1", NewInSelection: "Bob 1, Cy 1"} {
		r, err := m.all(t, Request{Path: "a", Filter: filter, New: mode})
		if err != nil || namesOf(r.Contributors.New) != want {
			t.Errorf("%s: %s, %v, want %s", mode, namesOf(r.Contributors.New), err, want)
		}
		r, err = m.all(t, Request{Path: "a", Ref1: "master", Ref2: "master~2", New: mode})
		if err != nil || namesOf(r.Contributors.New) != want {
			t.Errorf("%s of a release: %s, %v, want %s", mode, namesOf(r.Contributors.New), err, want)
		}
	}
}

// The newcomers of a release need no lines of the history before it: its contents are not even read.
func TestNewcomersCountNoOldLines(t *testing.T) {
	dir := t.TempDir()
	g := gittest.Long(t, filepath.Join(dir, "p.git"), 50)
	g.Explode()
	for line := range strings.Lines(g.Git("log", "--format=", "--raw", "--no-abbrev", "master~10")) {
		blob := strings.Fields(line)[3]
		_ = os.Remove(filepath.Join(g.Dir, "objects", blob[:2], blob[2:]))
	}
	m := maker(t, dir, "", "")
	r, err := m.all(t, Request{Ref1: "master", Ref2: "master~9", Sections: []string{Contributing}})
	if err != nil || r.Commits != 9 || r.Unknown != 0 {
		t.Errorf("%+v %v", r, err)
	}
	if m.Lister.Incomplete("p") {
		t.Error("the lines of the commits before the release were asked for")
	}
}
