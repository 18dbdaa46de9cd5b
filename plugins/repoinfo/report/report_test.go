package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// maker makes reports of a folder of clones.
func maker(t *testing.T, dir, mailmap, affiliations string) *Maker {
	t.Helper()
	folder, err := clones.NewFolder(dir, &gitcmd.Git{})
	if err != nil {
		t.Fatal(err)
	}
	store := jobs.Open(t.TempDir(), 64<<20, slog.New(slog.DiscardHandler))
	t.Cleanup(store.Close)
	directory, err := people.New(mailmap, affiliations)
	if err != nil {
		t.Fatal(err)
	}
	return &Maker{Folder: folder, Lister: &history.Lister{Counts: counts.NewTable(store), Jobs: store, MessageLimit: 1 << 20}, People: directory, Timeout: time.Minute}
}

var queue = &turns.Queue{Places: 2, Started: 2, Waiting: 10, Total: 10, Slice: time.Second}

func (m *Maker) all(t *testing.T, q Request) (*Report, error) {
	t.Helper()
	if q.Interval == "" {
		q.Interval = "month"
	}
	if q.New == "" {
		q.New = NewInHistory
	}
	if q.Sections == nil {
		q.Sections = []string{Projects, Authors, Organizations, Zones, Contributing, TimelineOf, ActivityOf, Files}
	}
	p, err := m.Plan(t.Context(), q)
	if err != nil {
		return nil, err
	}
	return m.Make(t.Context(), p, func(project string) *turns.Turn { return queue.New("u", project) }, func(int, int) {})
}

func TestReportOfAllProjects(t *testing.T) {
	dir := t.TempDir()
	gittest.Zoo(t, filepath.Join(dir, "zoo.git"))
	gittest.Zoo(t, filepath.Join(dir, "other", "zoo.git"))
	gittest.New(t, filepath.Join(dir, "empty.git"))
	m := maker(t, dir, "", "")
	if _, err := m.all(t, Request{Ref1: "master", Ref2: "u"}); err == nil || !strings.Contains(err.Error(), "nothing was compared: 3 projects failed") || !strings.Contains(err.Error(), "zoo: the two references have no common ancestor") {
		t.Errorf("unrelated references: %v", err)
	}
	r, err := m.all(t, Request{Ref1: "master", Ref2: "two", Filter: commit.Filter{Skip: true}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "two-to-master.json", append(data, '\n'))
	golden(t, "two-to-master.txt", []byte(r.Text()))
	for name, write := range map[string]func(io.Writer) error{"two-to-master.csv": r.CSV, "two-to-master.html": r.HTML} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

// sums are what an independent git says: numstat of every commit but merges.
func sums(t *testing.T, g *gittest.Repo, more ...string) (commits, merges int, ins, del uint64) {
	t.Helper()
	for range strings.Lines(g.Git(append([]string{"rev-list"}, more...)...)) {
		commits++
	}
	for range strings.Lines(g.Git(append([]string{"rev-list", "--merges"}, more...)...)) {
		merges++
	}
	for line := range strings.Lines(g.Git(append([]string{"log", "--no-merges", "--no-renames", "--numstat", "--format="}, more...)...)) {
		var i, d uint64
		if n, _ := fmt.Sscanf(line, "%d\t%d\t", &i, &d); n == 2 {
			ins, del = ins+i, del+d
		}
	}
	return commits, merges, ins, del
}

func TestLinesAreCountedOnce(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "m.git"))
	var s gittest.Stream
	main := s.Add(gittest.Commit{Root: true, Files: map[string]string{"f": "1\n2\n"}})
	for i := range 30 { // merge-heavy: each side branch is merged
		side := s.Add(gittest.Commit{Branch: "side", Parents: []int{main}, Files: map[string]string{fmt.Sprint("s", i): strings.Repeat("x\n", i+1)}})
		main = s.Add(gittest.Commit{Parents: []int{main, side}, Files: map[string]string{fmt.Sprint("s", i): strings.Repeat("x\n", i+1)}})
	}
	g.Import(s.String())
	m := maker(t, dir, "", "")
	r, err := m.all(t, Request{})
	if err != nil {
		t.Fatal(err)
	}
	commits, merges, ins, del := sums(t, g, "master")
	if r.Commits != commits || r.Merges != merges || r.Insertions != ins || r.Deletions != del || r.MergeLines || merges != 30 {
		t.Errorf("%d commits, %d merges, +%d -%d; git says %d, %d, +%d -%d", r.Commits, r.Merges, r.Insertions, r.Deletions, commits, merges, ins, del)
	}
	if !strings.Contains(r.Text(), "30 of the commits are merges; their lines are not counted a second time") {
		t.Error(r.Text())
	}
	with, err := m.all(t, Request{MergeLines: true})
	if err != nil || with.Insertions != 2*ins-2 || !with.MergeLines || !strings.Contains(with.Text(), "The lines of 30 merges are counted too") {
		t.Errorf("with merges: +%d, %v", with.Insertions, err)
	}
}

func TestPeopleOverTime(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	at := func(day string) int64 {
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		return d.Unix() + 10*3600
	}
	for i, c := range []struct{ who, day string }{
		{"Ann <ann@old.example>", "2015-02-02"}, {"Bob <bob@corp.example>", "2015-12-30"}, {"Cy <cy@gmail.com>", "2015-11-11"},
		{"Ann Author <ann@new.example>", "2016-01-04"}, {"Dan <dan@corp.example>", "2016-01-05"}, {"Cy <cy@gmail.com>", "2016-03-03"},
	} {
		s.Add(gittest.Commit{Root: i == 0, Author: c.who, When: at(c.day), Zone: "+0200", Files: map[string]string{
			"dir/sub/f": fmt.Sprint(i), ".mailmap": "Ann Author <ann@new.example> <ann@old.example>\n"}})
	}
	g.Import(s.String())
	file := filepath.Join(t.TempDir(), "affiliations")
	if err := os.WriteFile(file, []byte("corp.example Corp Inc < 2016-01-01\ncorp.example Corp SE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := maker(t, dir, "", file).all(t, Request{Filter: commit.Filter{Since: at("2016-01-01") - 10*3600, Until: at("2016-12-31")}, Interval: "week"})
	if err != nil {
		t.Fatal(err)
	}
	names := func(list []*Total) (all []string) {
		for _, e := range list {
			all = append(all, fmt.Sprintf("%s %d", e.Name, e.Commits))
		}
		return all
	}
	var points []string
	for _, p := range r.Timeline.Points {
		points = append(points, fmt.Sprintf("%s %d by %d, %d new", p.Start, p.Commits, p.Authors, p.New))
	}
	for name, row := range map[string]struct{ got, want []string }{
		"authors":       {names(r.Authors), []string{"Ann Author 1", "Cy 1", "Dan 1"}},
		"new":           {names(r.Contributors.New), []string{"Dan 1"}},
		"lost":          {names(r.Contributors.Lost), []string{"Bob 1"}},
		"organizations": {names(r.Organizations), []string{"(unaffiliated) 1", "Corp SE 1", "new.example 1"}},
		"files":         {names(r.Files), []string{"dir/sub/f 3"}},
		"directories":   {names(r.Directories), []string{"dir/ 3", "dir/sub/ 3"}},
		"points": {points, []string{"2016-01-04 2 by 2, 1 new", "2016-01-11 0 by 0, 0 new", "2016-01-18 0 by 0, 0 new", "2016-01-25 0 by 0, 0 new", "2016-02-01 0 by 0, 0 new",
			"2016-02-08 0 by 0, 0 new", "2016-02-15 0 by 0, 0 new", "2016-02-22 0 by 0, 0 new", "2016-02-29 1 by 1, 0 new"}},
		"zones": {names(r.TimeZones), []string{"UTC+02:00 3"}},
	} {
		if diff := cmp.Diff(row.want, row.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if r.Activity.Hours[0][12] != 1 || r.Activity.Hours[1][12] != 1 || r.Activity.Weekdays != [7]int{1, 1, 0, 1} {
		t.Errorf("activity %v", r.Activity)
	}
	if a := r.Authors[0]; a.Email != "ann@new.example" || a.First != at("2016-01-04") || a.Last != a.First {
		t.Errorf("%+v", a)
	}
}

func TestNewPeopleOfARelease(t *testing.T) {
	dir := t.TempDir()
	gittest.Zoo(t, filepath.Join(dir, "zoo.git"))
	r, err := maker(t, dir, "", "").all(t, Request{Ref1: "master", Ref2: "stable/boron", Sections: []string{Contributing}})
	if err != nil || len(r.Contributors.New) != 1 || r.Contributors.New[0].Email != "eve@corp.example" || len(r.Contributors.Lost) != 0 {
		t.Errorf("%+v %v", r.Contributors, err)
	}
}

func TestADamagedProjectIsNotInTheSums(t *testing.T) {
	dir := t.TempDir()
	gittest.Long(t, filepath.Join(dir, "whole.git"), 10)
	g := gittest.Long(t, filepath.Join(dir, "damaged.git"), 400)
	g.Explode()
	lost := g.Head("master~300")
	if err := os.Remove(filepath.Join(g.Dir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	m := maker(t, dir, "", "")
	r, err := m.all(t, Request{})
	if err != nil || r.Commits != 10 || r.Compared != 1 || len(r.Failed) != 1 || r.Failed[0].Project != "damaged" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := m.all(t, Request{Projects: []string{"damaged"}}); err == nil || !strings.Contains(err.Error(), "nothing was compared") {
		t.Errorf("%v", err)
	}
}

func TestNoProjects(t *testing.T) {
	dir := t.TempDir()
	if _, err := maker(t, dir, "", "").all(t, Request{}); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

func TestFormulasAndMarkupStayText(t *testing.T) {
	r := &Report{Authors: []*Total{{Name: "=1+1", Commits: 1}, {Name: "<script>alert(1)</script>", Commits: 1}}}
	var csv, html bytes.Buffer
	if err := errors.Join(r.CSV(&csv), r.HTML(&html)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(csv.String(), "author,'=1+1,") || strings.Contains(html.String(), "<script>") {
		t.Errorf("%s\n%s", csv.String(), html.String())
	}
}

func TestZone(t *testing.T) {
	for want, c := range map[string]commit.Commit{"UTC+00:00": {}, "UTC-04:00": {Author: commit.Signature{West: 14400}},
		"UTC+05:45": {Author: commit.Signature{West: -20700}}, "(malformed)": {Malformed: []string{"author_zone"}}} {
		if got := formatZone(&c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
