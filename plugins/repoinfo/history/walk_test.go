package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

type answer struct {
	Author         string `json:"author"`
	AuthorEmail    string `json:"author_email"`
	AuthorOffset   int    `json:"author_tz_offset"`
	AuthoredDate   int64  `json:"authored_date"`
	CommittedDate  int64  `json:"committed_date"`
	CommitterEmail string `json:"committer_email"`
	Hash           string `json:"hash"`
	Message        string `json:"message"`
	Lines          *struct{ Insertions, Deletions, Files, Lines int }
}

func lister(t *testing.T) *Lister {
	t.Helper()
	store := jobs.Open(t.TempDir(), 64<<20, slog.New(slog.DiscardHandler))
	t.Cleanup(store.Close)
	return &Lister{Counts: counts.NewTable(store), Jobs: store, MessageLimit: 1 << 20}
}

func list(t *testing.T, l *Lister, r Repo, q Query) ([]answer, Result) {
	t.Helper()
	var all []answer
	enc := commit.NewEncoder(r.Project)
	res, err := l.Walk(t.Context(), r, q, nil, func(run []commit.Commit) error {
		for i := range run {
			var a answer
			b, err := enc.Encode(&run[i])
			if err != nil {
				return err
			}
			if err := json.Unmarshal(b, &a); err != nil {
				return err
			}
			all = append(all, a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, res
}

func TestEveryCommitEqualsGit(t *testing.T) {
	g := gittest.Zoo(t, filepath.Join(t.TempDir(), "zoo.git"))
	r := Repo{Git: &gitcmd.Git{}, Project: "zoo", Dir: g.Dir}
	for _, renames := range []bool{false, true} {
		l := lister(t)
		for _, pass := range []string{"cold", "warm"} {
			got, _ := list(t, l, r, Query{Tip: g.Head("master"), Stats: true, Renames: renames})
			want := strings.Fields(g.Git("rev-list", "master"))
			if len(got) != len(want) {
				t.Fatalf("%d commits, git has %d", len(got), len(want))
			}
			for i, c := range got {
				if c.Hash != want[i] {
					t.Fatalf("commit %d is %s, git has %s", i, c.Hash, want[i])
				}
				name := fmt.Sprintf("%s, renames %v, %s", c.Hash, renames, pass)
				if diff := cmp.Diff(gitSays(t, g, c.Hash, renames), facts(c)); diff != "" {
					t.Errorf("%s (-git +ours):\n%s", name, diff)
				}
			}
		}
	}
}

// facts and gitSays lay one commit out in the same way, from our answer and
// from a git process of its own.
func facts(c answer) []string {
	return []string{c.Author, c.AuthorEmail, strconv.FormatInt(c.AuthoredDate, 10), strconv.Itoa(c.AuthorOffset), c.CommitterEmail, c.Message,
		fmt.Sprint(c.Lines.Insertions, c.Lines.Deletions, c.Lines.Files, c.Lines.Lines)}
}

func gitSays(t *testing.T, g *gittest.Repo, hash string, renames bool) []string {
	t.Helper()
	f := strings.Split(g.Git("show", "-s", "--encoding=UTF-8", "--format=%an%x00%ae%x00%at%x00%ad%x00%ce%x00%B%x00", "--date=format:%z", hash), "\x00")
	zone, err := strconv.Atoi(f[3])
	if err != nil {
		t.Fatal(err)
	}
	option := map[bool]string{true: "-M", false: "--no-renames"}[renames]
	ins, del, files := 0, 0, 0
	for line := range strings.Lines(g.Git("show", "--format=", "--numstat", "--diff-merges=first-parent", option, hash)) {
		cols := strings.SplitN(line, "\t", 3)
		i, _ := strconv.Atoi(cols[0])
		d, _ := strconv.Atoi(cols[1])
		ins, del, files = ins+i, del+d, files+1
	}
	text := string(bytes.ToValidUTF8([]byte(f[5]), []byte("\uFFFD")))
	if strings.HasPrefix(f[5], "invalid") {
		text = "invalid \uFFFD\uFFFD bytes\n" // one mark for each byte
	}
	return []string{f[0], strings.ToLower(f[1]), f[2], strconv.Itoa(-(zone/100*3600 + zone%100*60)), strings.ToLower(f[4]),
		text, fmt.Sprint(ins, del, files, ins+del)}
}

func TestPagesJoinToTheWholeList(t *testing.T) {
	g := gittest.Zoo(t, filepath.Join(t.TempDir(), "zoo.git"))
	r, l := Repo{Git: &gitcmd.Git{}, Project: "zoo", Dir: g.Dir}, lister(t)
	for _, filter := range []commit.Filter{{}, {Skip: true}, {Organization: "EXAMPLE.org"}} {
		q := Query{Tip: g.Head("master"), Filter: filter}
		whole, _ := list(t, l, r, q)
		for limit := 1; limit < len(whole)+2; limit++ {
			var pages []answer
			for q.Limit, q.Offset = limit, 0; ; {
				page, res := list(t, l, r, q)
				pages = append(pages, page...)
				if !res.More {
					break
				}
				if len(page) != limit {
					t.Fatalf("a page of %d, limit %d", len(page), limit)
				}
				q.Offset = res.Next
			}
			if diff := cmp.Diff(whole, pages); diff != "" {
				t.Fatalf("limit %d: %s", limit, diff)
			}
		}
	}
}

func TestQueriesAgreeWithGit(t *testing.T) {
	g := gittest.Zoo(t, filepath.Join(t.TempDir(), "zoo.git"))
	r, l := Repo{Git: &gitcmd.Git{}, Project: "zoo", Dir: g.Dir}, lister(t)
	tip := g.Head("master")
	for _, row := range []struct {
		name string
		q    Query
		git  []string
	}{
		{"no merges", Query{Merges: NoMerges}, []string{"--no-merges", "master"}},
		{"only merges", Query{Merges: OnlyMerges}, []string{"--merges", "master"}},
		{"since", Query{Filter: commit.Filter{Since: 1500000300}}, []string{"--max-age=1500000300", "master"}},
		{"until", Query{Filter: commit.Filter{Until: 1500000300}}, []string{"--min-age=1500000300", "master"}},
		{"until after 2038", Query{Filter: commit.Filter{Until: 1 << 33}}, []string{"master"}},
		{"since after 2038", Query{Filter: commit.Filter{Since: 1 << 33}}, []string{"--max-count=0", "master"}},
		{"path", Query{Path: "a.txt"}, []string{"--full-history", "master", "--", "a.txt"}},
		{"path, simplified", Query{Path: "a.txt", Simplify: true}, []string{"master", "--", "a.txt"}},
		{"a path is no pattern", Query{Path: "*.txt"}, []string{"--max-count=0", "master"}},
		{"range", Query{Base: g.Head("stable/boron")}, []string{"stable/boron..master"}},
	} {
		row.q.Tip = tip
		got, _ := list(t, l, r, row.q)
		var hashes []string
		for _, c := range got {
			hashes = append(hashes, c.Hash)
		}
		if diff := cmp.Diff(strings.Fields(g.Git(append([]string{"rev-list"}, row.git...)...)), append([]string{}, hashes...)); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

// Names as git prints them where a branch and a tag share one.
func TestNamesThatGitPrints(t *testing.T) {
	g := gittest.Zoo(t, filepath.Join(t.TempDir(), "zoo.git"))
	r := Repo{Git: &gitcmd.Git{}, Project: "zoo", Dir: g.Dir}
	g.Git("update-ref", "refs/heads/same", "master")
	g.Git("update-ref", "refs/tags/same", "master~2")
	g.Git("update-ref", "refs/heads/heads/same", "master~1")
	for ref, want := range map[string]string{"same": "master", "tags/same": "master~2", "heads/master": "master", "refs/tags/same": "master~2",
		"heads/same": "master~1"} { // the branch that is really called so
		got, err := r.Resolve(t.Context(), "branch", ref)
		if err != nil || got[0] != g.Head(want) {
			t.Errorf("%s: %v, %v", ref, got, err)
		}
	}
	if _, err := r.Resolve(t.Context(), "branch", "tags/nope"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// HEAD of a clone without branches: a commit that it names can be read by its name and by its hash, and where there is
// none all answers say so in the same words.
func TestHEADWithoutBranches(t *testing.T) {
	g := gittest.Zoo(t, filepath.Join(t.TempDir(), "zoo.git"))
	r := Repo{Git: &gitcmd.Git{}, Project: "zoo", Dir: g.Dir}
	tip := g.Head("master")
	g.Git("update-ref", "--no-deref", "HEAD", "master")
	for ref := range strings.Lines(g.Git("for-each-ref", "--format=%(refname)")) {
		g.Git("update-ref", "-d", strings.TrimSpace(ref))
	}
	first, err := r.Default(t.Context())
	if err != nil || first != tip {
		t.Errorf("%s %v", first, err)
	}
	if got, err := r.Resolve(t.Context(), "branch", "HEAD", tip); err != nil || got[0] != tip || got[1] != tip {
		t.Errorf("%v %v", got, err)
	}
	if res, err := lister(t).Count(t.Context(), r, false, (&turns.Queue{Places: 1, Started: 1, Waiting: 1, Total: 1}).New("u", "zoo"), func(int) {}); err != nil || res.Commits == 0 {
		t.Errorf("%+v %v", res, err)
	}
	g.Git("symbolic-ref", "HEAD", "refs/heads/later")
	_, byDefault := r.Default(t.Context())
	_, byName := r.Resolve(t.Context(), "branch", "HEAD")
	if byDefault == nil || byName == nil || byDefault.Error() != byName.Error() || !strings.Contains(byName.Error(), "branch later was not found in project zoo") {
		t.Errorf("%v; %v", byDefault, byName)
	}
}

func TestResolve(t *testing.T) {
	g := gittest.Zoo(t, filepath.Join(t.TempDir(), "zoo.git"))
	g.Git("update-ref", "refs/tags/one", g.Head("two")) // a tag named as a branch is
	r := Repo{Git: &gitcmd.Git{}, Project: "zoo", Dir: g.Dir}
	got, err := r.Resolve(t.Context(), "branch", "master", "v1", "one", "refs/tags/one", g.Head("three")[:12], "HEAD", "stable/boron")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{g.Head("master"), g.Head("v1"), g.Head("refs/heads/one"), g.Head("two"), g.Head("three"), g.Head("master"), g.Head("stable/boron")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := r.Resolve(t.Context(), "branch", "nope"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown branch: %v", err)
	}
	if _, err := r.MergeBase(t.Context(), g.Head("master"), g.Head("unrelated")); fault.KindOf(err) != fault.Exists {
		t.Errorf("unrelated histories: %v", err)
	}
	base, err := r.MergeBase(t.Context(), g.Head("one"), g.Head("two"))
	if err != nil || base != strings.TrimSpace(g.Git("merge-base", "one", "two")) {
		t.Errorf("merge base %s, %v", base, err)
	}
}

func TestEmptyRepository(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "e.git"))
	r := Repo{Git: &gitcmd.Git{}, Project: "e", Dir: g.Dir}
	if names, err := r.Branches(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("branches %v, %v", names, err)
	}
	if _, err := r.Resolve(t.Context(), "branch", "master"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("resolve: %v", err)
	}
	if res, err := lister(t).Count(t.Context(), r, false, (&turns.Queue{}).New("", ""), func(int) {}); err != nil || res.Commits != 0 {
		t.Errorf("count: %+v, %v", res, err)
	}
}

func TestSHA256(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "s.git"), "--object-format=sha256")
	var s gittest.Stream
	s.Add(gittest.Commit{Root: true, Files: map[string]string{"a": "1\n2\n"}})
	g.Import(s.String())
	got, _ := list(t, lister(t), Repo{Git: &gitcmd.Git{}, Project: "s", Dir: g.Dir}, Query{Tip: g.Head("master"), Stats: true})
	if len(got) != 1 || got[0].Lines.Insertions != 2 {
		t.Fatalf("got %+v", got)
	}
}

// Clocks that run wrong: a commit from 1971 in the middle, one from the future below.
func TestDatesLoseNothingWhenClocksAreWrong(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "s.git"))
	var s gittest.Stream
	for i := range 40 {
		when := int64(0)
		switch i {
		case 5:
			when = 4_000_000_000
		case 20, 21, 22, 23, 24, 25, 26, 27, 28, 29:
			when = 31_536_000 + int64(i)
		}
		s.Add(gittest.Commit{Root: i == 0, When: when, Files: map[string]string{"f": fmt.Sprint(i)}})
	}
	g.Import(s.String())
	l, r := lister(t), Repo{Git: &gitcmd.Git{}, Project: "s", Dir: g.Dir}
	for _, f := range []commit.Filter{{Since: 1_500_000_300}, {Until: 1_500_000_600}, {Since: 1_500_000_100, Until: 1_500_001_000}, {Since: 3_000_000_000}} {
		var want []string
		for line := range strings.Lines(g.Git("log", "--format=%H %ct", "master")) {
			hash, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			if when, _ := strconv.ParseInt(text, 10, 64); f.During(when) {
				want = append(want, hash)
			}
		}
		var have []string
		got, _ := list(t, l, r, Query{Tip: g.Head("master"), Filter: f})
		for _, c := range got {
			have = append(have, c.Hash)
		}
		if diff := cmp.Diff(want, have); diff != "" || len(want) == 0 {
			t.Errorf("%+v: %s", f, diff)
		}
	}
}

func TestAPathHasAllCommitsThatTouchIt(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "p.git"))
	var s gittest.Stream
	root := s.Add(gittest.Commit{Root: true, Files: map[string]string{"f": "1\n"}})
	side := s.Add(gittest.Commit{Branch: "side", Parents: []int{root}, Files: map[string]string{"f": "2\n"}})
	side = s.Add(gittest.Commit{Branch: "side", Parents: []int{side}, Files: map[string]string{"f": "1\n"}}) // and back: git's simplified history leaves both out
	s.Add(gittest.Commit{Parents: []int{s.Add(gittest.Commit{Parents: []int{root}, Files: map[string]string{"g": "g\n"}}), side}})
	g.Import(s.String())
	l, r := lister(t), Repo{Git: &gitcmd.Git{}, Project: "p", Dir: g.Dir}
	full, _ := list(t, l, r, Query{Tip: g.Head("master"), Path: "f"})
	simple, _ := list(t, l, r, Query{Tip: g.Head("master"), Path: "f", Simplify: true})
	if len(full) != 3 || len(simple) != 1 {
		t.Errorf("%d commits, %d in the simplified history", len(full), len(simple))
	}
}

func TestWalkEndsWithItsCaller(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 2000)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := lister(t).Walk(ctx, Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}, Query{Tip: g.Head("master"), Stats: true}, nil, func(run []commit.Commit) error {
		n += len(run)
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || n >= 2000 {
		t.Errorf("%d commits, %v", n, err)
	}
}

func TestGitMissing(t *testing.T) {
	r := Repo{Git: &gitcmd.Git{Path: "no-such-git"}, Project: "x", Dir: t.TempDir()}
	_, err := lister(t).Walk(t.Context(), r, Query{Tip: strings.Repeat("0", 40), Stats: true}, nil, func([]commit.Commit) error { return nil })
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "install git") {
		t.Errorf("got %v", err)
	}
}
