package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/turns"
)

// A report on what is new leaves out what the other branch has under another hash; so people whose only commit is a pick
// are not among its authors.
func TestAFreshReportLeavesPicksOut(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	base := s.Add(gittest.Commit{Message: "Base\n", Files: map[string]string{"a": "1\n"}})
	s.Add(gittest.Commit{Author: "Cid <cid@example.org>", Message: "Fix\n", Files: map[string]string{"a": "2\n"}})
	s.Add(gittest.Commit{Author: "Dan <dan@example.org>", Message: "New\n", Files: map[string]string{"b": "1\n"}})
	pick := gittest.Commit{Branch: "stable", Parents: []int{base}, Message: "Fix\n", Files: map[string]string{"a": "2\n"}}
	pick.Author = "Cid <cid@example.org>"
	s.Add(pick)
	g.Import(s.String())
	m := maker(t, dir, "", "")
	for _, row := range []struct {
		fresh          bool
		ref1           string
		commits, picks int
		fresher        string
	}{
		{true, "master", 1, 1, "Dan 1"},
		{false, "master", 2, 0, "Cid 1, Dan 1"},
		{true, "", 1, 1, "Dan 1"}, // the default branch
	} {
		r, err := m.all(t, Request{Ref1: row.ref1, Ref2: "stable", Fresh: row.fresh, NoLines: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Commits != row.commits || r.Picked != row.picks || namesOf(r.Contributors.New) != row.fresher {
			t.Errorf("%+v: %d commits, %d picked, new %s", row, r.Commits, r.Picked, namesOf(r.Contributors.New))
		}
		if want := fmt.Sprintf("%d commits are left out: stable has the same changes", row.picks); row.picks > 0 && !strings.Contains(r.Text(), want) {
			t.Errorf("%q is not in\n%s", want, r.Text())
		}
	}
}

func TestListHasTheCommitsWithTheirMarks(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, filepath.Join(dir, "p.git"))
	var s gittest.Stream
	base := s.Add(gittest.Commit{Message: "Base\n", Files: map[string]string{"a": "1\n"}})
	s.Add(gittest.Commit{Message: "Fix\n\nTopic: parser\n", Files: map[string]string{"a": "2\n"}})
	side := s.Add(gittest.Commit{Branch: "side", Parents: []int{base}, Files: map[string]string{"s": "1\n"}})
	s.Add(gittest.Commit{Parents: []int{2, side}, Files: map[string]string{"s": "1\n"}})
	s.Add(gittest.Commit{Branch: "stable", Parents: []int{base}, Message: "Fix\n", Files: map[string]string{"a": "2\n"}})
	g.Import(s.String())
	m := maker(t, dir, "", "")
	p, err := m.Plan(t.Context(), Request{Ref1: "master", Ref2: "stable", Fresh: true, NoLines: true})
	if err != nil {
		t.Fatal(err)
	}
	turn := func(project string) *turns.Turn { return queue.New("u", project) }
	r, listed, err := m.List(t.Context(), p, turn, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	l := listed["p"]
	if r.Commits != 2 || l.Tip != g.Head("master") || l.Base != g.Head("stable") || len(l.Commits) != 2 {
		t.Fatalf("%d commits, %+v", r.Commits, l)
	}
	fix := l.Commits[1]
	if fix.Subject != "Fix" || fix.Same == nil || fix.Same.Hash != l.Base || string(fix.Trailers[0].Value) != "parser" {
		t.Errorf("%+v", fix)
	}
	if l.Commits[0].Same != nil {
		t.Errorf("%+v is only in master", l.Commits[0])
	}
}
