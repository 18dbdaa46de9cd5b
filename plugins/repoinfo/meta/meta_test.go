package meta

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

func TestBothSpellingsAndDates(t *testing.T) {
	got, err := Parse("PROJECT_INFO.yaml", []byte(`
name: Example
display_name: An example
creation-date: 2015-09-24
termination_date: n/a
description: |
  Summary

  Details
categories: [kernel, services]
mailing-lists:
  - email: dev@example.org
    archives: https://example.org/a
meetings:
  - topic: all
    days_of_week: [mon]
    time: 10:30
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"name": "Example", "display-name": "An example", "creation-date": "2015-09-24", "termination-date": "n/a",
		"description": "Summary\n\nDetails\n", "categories": []any{"kernel", "services"},
		"mailing-lists": []any{map[string]any{"email": "dev@example.org", "archives": "https://example.org/a"}},
		"meetings":      []any{map[string]any{"topic": "all", "days-of-week": []any{"mon"}, "time": "10:30"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnchorsAndMergeKeys(t *testing.T) {
	got, err := Parse("INFO.yaml", []byte(`
project: x
project_lead: &lead
  name: Ann
  email: ann@example.org
primary_contact: *lead
committers:
  - <<: *lead
  - <<: [*lead, {id: other, name: no}]
    email: second@example.org
`))
	if err != nil {
		t.Fatal(err)
	}
	ann := map[string]any{"name": "Ann", "email": "ann@example.org"}
	want := map[string]any{"project": "x", "project-lead": ann, "primary-contact": ann,
		"committers": []any{ann, map[string]any{"name": "Ann", "id": "other", "email": "second@example.org"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadFiles(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "*" + string(c-1) + "]\n"
	}
	for name, row := range map[string][2]string{
		"no YAML":      {"a: [", "no YAML"},
		"a list":       {"- a\n", "no mapping"},
		"nothing":      {"", "no mapping"},
		"bomb":         {bomb, "too large"},
		"itself":       {"a: &a\n  b: *a\n", "X.yaml"},
		"merges self":  {"a: &a\n  <<: *a\n", "X.yaml"},
		"twice":        {"a_b: 1\na-b: 2\n", "twice"},
		"merge scalar": {"<<: x\n", "names no mapping"},
		"odd key":      {"? [a]\n: b\n", "not a simple word"},
		"deep":         {"a: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), "too deep"},
		"long":         {strings.Repeat("#", MaxBytes+1), "longer"},
	} {
		_, err := Parse("X.yaml", []byte(row[0]))
		if err == nil || fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), row[1]) || !strings.Contains(err.Error(), "X.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRead(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "p.git"))
	var s gittest.Stream
	s.Add(gittest.Commit{Root: true, Files: map[string]string{"x": "y\n"}})
	s.Add(gittest.Commit{Branch: "info", Parents: []int{1}, Files: map[string]string{"INFO.yaml": "project: new\n"}})
	s.Add(gittest.Commit{Branch: "both", Parents: []int{2}, Files: map[string]string{"PROJECT_INFO.yaml": "name: old\n"}})
	g.Import(s.String())
	r := history.Repo{Git: &gitcmd.Git{}, Project: "p", Dir: g.Dir}
	if _, err := Read(t.Context(), r, g.Head("master")); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	for branch, want := range map[string]map[string]any{"info": {"project": "new"}, "both": {"name": "old"}} {
		got, err := Read(t.Context(), r, g.Head(branch))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", branch, err, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1\n", "a: &a {b: .nan}\nc: {<<: *a}\n", "- x", "a: 2015-01-01\n", "a: !!binary aGk=\n", "? a\n: b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse("f", text)
		if err != nil {
			return
		}
		if _, err := json.Marshal(m); err != nil {
			t.Errorf("no JSON of %q: %v", text, err)
		}
	})
}
