package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gittest"
)

func TestBranches(t *testing.T) {
	s := newSite(t)
	s.zoo("a/zoo")
	var got struct{ Branches []string }
	s.ok("/git/branches?project=a/zoo", &got)
	want := []string{"master", "one", "stable/boron", "three", "two", "unrelated"}
	if diff := cmp.Diff(want, got.Branches); diff != "" {
		t.Error(diff)
	}
	gittest.New(t, filepath.Join(s.dir, "empty.git"))
	if _, body := s.get("/git/branches?project=empty"); string(body) != "{\"branches\":[]}\n" {
		t.Errorf("an empty repository: %s", body)
	}
}

func TestFiftyThousandReferences(t *testing.T) {
	s := newSite(t)
	g := s.zoo("many")
	head := g.Head("master")
	g.PackBranches(50_000, head)
	var got struct{ Branches []string }
	s.ok("/git/branches?project=many", &got)
	if len(got.Branches) != 50_006 || got.Branches[0] != "b00000" {
		t.Fatalf("%d branches", len(got.Branches))
	}
	var c page
	s.ok("/git/commits?project=many&branch=b49999&limit=1", &c)
	if len(c.Commits) != 1 || c.Commits[0].Hash != head {
		t.Errorf("%+v", c)
	}
}

func TestCommitsAndTheirFilters(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	all := strings.Fields(g.Git("rev-list", "master"))
	skipped := strings.Fields(g.Git("rev-list", "--committer=^Gerrit Code Review", "master"))
	if len(skipped) != 2 {
		t.Fatal("the zoo has two commits of the review server")
	}
	for _, row := range []struct {
		query string
		git   []string
	}{
		{"skip=false", all},
		{"skip=0&branch=master", all},
		{"", without(all, skipped)},
		{"skip=false&stats=false", all},
		{"skip=false&branch=v1", strings.Fields(g.Git("rev-list", "v1"))},
		{"skip=false&branch=refs/heads/one", strings.Fields(g.Git("rev-list", "one"))},
		{"skip=false&branch=" + g.Head("two"), strings.Fields(g.Git("rev-list", "two"))},
		{"author=UNAL@example.org", strings.Fields(g.Git("rev-list", "-i", "--author=unal@example.org", "master"))},
		{"organization=CORP.example", strings.Fields(g.Git("rev-list", "--author=@corp.example", "master"))},
		{"organization=example", []string{}},
		{"skip=false&merges=false", strings.Fields(g.Git("rev-list", "--no-merges", "master"))},
		{"skip=false&merges=only", strings.Fields(g.Git("rev-list", "--merges", "master"))},
		{"skip=false&since=1500000300&until=1500000600", strings.Fields(g.Git("rev-list", "--max-age=1500000300", "--min-age=1500000600", "master"))},
		{"skip=false&since=2017-07-14T02:45:00Z", strings.Fields(g.Git("rev-list", "--max-age=1500000300", "master"))},
		{"skip=false&since=2017-07-14T04:45:00+02:00", strings.Fields(g.Git("rev-list", "--max-age=1500000300", "master"))},
		{"skip=false&until=2017-07-14", all},
		{"skip=false&until=2017-07-13", []string{}},
		{"skip=false&path=dir", strings.Fields(g.Git("rev-list", "--full-history", "master", "--", "dir"))},
		{"skip=false&path=dir&simplify=true", strings.Fields(g.Git("rev-list", "master", "--", "dir"))},
		{"skip=false&no_cache=true", all},
	} {
		var got page
		s.ok("/git/commits?project=zoo&"+row.query, &got)
		if diff := cmp.Diff(row.git, got.hashes()); diff != "" {
			t.Errorf("%s: %s", row.query, diff)
		}
		for _, c := range got.Commits {
			if c.Project != "zoo" || (c.Lines == nil) != strings.Contains(row.query, "stats=false") {
				t.Errorf("%s: %+v", row.query, c)
			}
		}
	}
	plain, renames := page{}, page{}
	s.ok("/git/commits?project=zoo&path=dir&simplify=true&limit=1", &plain)
	s.ok("/git/commits?project=zoo&path=dir&simplify=true&limit=1&renames=true", &renames)
	if plain.Commits[0].Lines.Lines != 10 || renames.Commits[0].Lines.Lines != 0 {
		t.Errorf("a renamed file: %+v, with renames %+v", plain.Commits[0].Lines, renames.Commits[0].Lines)
	}
}

func without(all, drop []string) []string {
	list := []string{}
	for _, h := range all {
		if !strings.Contains(strings.Join(drop, " "), h) {
			list = append(list, h)
		}
	}
	return list
}

func TestDefaultBranch(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	g.Git("branch", "-m", "master", "main")
	g.Git("symbolic-ref", "HEAD", "refs/heads/main")
	var got page
	s.ok("/git/commits?project=zoo&skip=false", &got)
	if diff := cmp.Diff(strings.Fields(g.Git("rev-list", "main")), got.hashes()); diff != "" {
		t.Error(diff)
	}
}

func TestCommitsSinceRef(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	for _, row := range [][3]string{
		{"master", "two", "two..master"}, {"two", "master", ""}, {"master", "master", ""}, {"one", "three", "master^0 --not master"},
		{"v1", g.Head("stable/boron"), "stable/boron..v1"}, {"unrelated", "u", ""},
	} {
		var got page
		s.ok("/git/commits_since_ref?project=zoo&skip=false&ref1="+row[0]+"&ref2="+row[1], &got)
		base := strings.TrimSpace(g.Git("merge-base", row[0], row[1]))
		want := strings.Fields(g.Git("rev-list", base+".."+row[0]))
		if diff := cmp.Diff(append([]string{}, want...), got.hashes()); diff != "" {
			t.Errorf("%v: %s", row, diff)
		}
	}
}

func TestPagesByLink(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	master := g.Head("master")
	for _, first := range []string{"/git/commits?project=zoo&limit=3", "/git/commits_since_ref?project=zoo&ref1=master&ref2=two&limit=2&author=ann@example.org"} {
		g.Git("update-ref", "refs/heads/master", master)
		var whole page
		s.ok(strings.Replace(first, "limit", "ignored", 1), &whole)
		pages, path := []string{}, first
		for path != "" {
			var p page
			res := s.ok(path, &p)
			pages = append(pages, p.hashes()...)
			path = follow(t, path, res.Header.Get("Link"))
			g.Git("update-ref", "refs/heads/master", g.Head("three")) // a push between two pages changes nothing
		}
		if diff := cmp.Diff(whole.hashes(), pages); diff != "" {
			t.Errorf("%s: %s", first, diff)
		}
	}
}

// follow resolves a Link header as clients do; empty at the last page.
func follow(t *testing.T, path, link string) string {
	t.Helper()
	if link == "" {
		return ""
	}
	ref, err := url.Parse(strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`))
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return base.ResolveReference(ref).String()
}

func TestNotModifiedWithoutAWalk(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	res, _ := s.get("/git/commits?project=zoo")
	tag := res.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		t.Fatalf("entity tag %q", tag)
	}
	s.Jobs.Close() // from here on no walk can begin
	for _, known := range []string{tag, `"x", W/` + tag, "*"} {
		res, body := s.get("/git/commits?project=zoo", "If-None-Match", known)
		if res.StatusCode != 304 || len(body) != 0 || res.Header.Get("ETag") != tag {
			t.Errorf("%s: %d %s", known, res.StatusCode, body)
		}
	}
	for _, other := range []string{"&stats=false", "&limit=2", "&author=x@y", "&format=ndjson", "&renames=true", "&branch=two"} {
		if res, _ := s.get("/git/commits?project=zoo"+other, "If-None-Match", tag); res.StatusCode == 304 {
			t.Errorf("%s has the same entity tag", other)
		}
	}
	g.Git("update-ref", "refs/heads/master", g.Head("two"))
	if res, _ := s.get("/git/commits?project=zoo", "If-None-Match", tag); res.StatusCode == 304 {
		t.Error("304 although the branch moved")
	}
}

func TestFormsOfTheAnswer(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	_, plain := s.get("/git/commits?project=zoo")
	res, packed := s.get("/git/commits?project=zoo", "Accept-Encoding", "br, gzip;q=0.5")
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(z); err != nil || !bytes.Equal(unpacked, plain) || res.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("gzip: %v, %d bytes of %d", err, len(unpacked), len(plain))
	}
	var whole struct{ Commits []json.RawMessage }
	if err := json.Unmarshal(plain, &whole); err != nil {
		t.Fatal(err)
	}
	_, lines := s.get("/git/commits?project=zoo&format=ndjson")
	res, accepted := s.get("/git/commits?project=zoo", "Accept", "application/x-ndjson, application/json;q=0.1")
	if !bytes.Equal(lines, accepted) || res.Header.Get("Content-Type") != typeLines {
		t.Error("the two ways to ask for lines differ")
	}
	got := bytes.Split(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"))
	if len(got) != len(whole.Commits) {
		t.Fatalf("%d lines, %d commits", len(got), len(whole.Commits))
	}
	for i := range got {
		if !bytes.Equal(got[i], whole.Commits[i]) {
			t.Errorf("line %d: %s", i, got[i])
		}
	}
	if _, body := s.get("/git/commits?project=zoo&until=2000-01-01&format=ndjson"); len(body) != 0 {
		t.Errorf("no commits as lines: %q", body)
	}
}
