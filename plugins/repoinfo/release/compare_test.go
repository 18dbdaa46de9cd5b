package release

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

// The first three are the examples of the definition of the elephant factor by CHAOSS.
func TestHalfOfTheCommits(t *testing.T) {
	for _, row := range []struct {
		numbers []int
		want    int
	}{
		{[]int{1000, 202, 90, 33, 332, 343, 42, 433}, 2},
		{[]int{5, 5, 5, 5, 5, 5, 5, 5}, 4},
		{[]int{50, 10, 10, 10, 10, 10}, 1},
		{[]int{3, 3, 3}, 2},
		{[]int{7}, 1},
		{nil, 0},
	} {
		if got := countHalf(row.numbers); got != row.want {
			t.Errorf("%v: %d, want %d", row.numbers, got, row.want)
		}
	}
}

// namesIn are the names of shares with their commits.
func namesIn(list []Share) string {
	var all []string
	for _, s := range list {
		all = append(all, fmt.Sprintf("%s %d/%d", s.Name, s.Commits[0], s.Commits[1]))
	}
	return strings.Join(all, ", ")
}

// threeReleases has the tags v1, v2 and v3, and a merge and commits by a program between them.
func threeReleases(t *testing.T, dir, project string) {
	t.Helper()
	s := newStory(t, dir, project)
	by := func(author, message string) {
		s.add("master", gittest.Commit{Author: author, Message: message})
	}
	by("Old <old@one.example>", "Old\n")
	s.repo.Git("tag", "v1", "master")
	by("Ann <ann@one.example>", "1\n")
	by("Ann <ann@one.example>", "2\n")
	by("Bob <bob@two.example>", "3\n")
	by("Lou <lou@gmail.com>", "4\n")
	by("ci[bot] <ci@one.example>", "5\n")
	s.repo.Git("tag", "v2", "master")
	by("Ann <ann@one.example>", "6\n")
	by("Cid <cid@three.example>", "7\n\nCo-authored-by: Dan <dan@three.example>\n")
	by("Old <old@one.example>", "8\n")
	s.repo.Git("branch", "side", "v2")
	s.add("side", gittest.Commit{Author: "Eve <eve@four.example>", Message: "9\n"})
	tree := strings.TrimSpace(s.repo.Git("rev-parse", "master^{tree}"))
	merge := s.repo.Git("commit-tree", tree, "-p", "master", "-p", "side", "-m", "Merge")
	s.repo.Git("update-ref", "refs/heads/master", strings.TrimSpace(merge))
	s.repo.Git("tag", "v3", "master")
}

func TestTwoReleasesSideBySide(t *testing.T) {
	dir := t.TempDir()
	threeReleases(t, dir, "p")
	only := newStory(t, dir, "only-v3")
	only.say("master", "x")
	only.repo.Git("tag", "v3", "master")
	m := newMaker(t, dir, "*[bot]")
	c := m.ask(t, Question{Kind: AskCompare, Request: between("v3", "v2"), Ref3: "v1"}).Answer.(*Comparison)
	for i := range c.Releases {
		c.Releases[i].First, c.Releases[i].Last = 0, 0
	}
	want := [2]Side{
		{
			Ref: "v3", Before: "v2", Projects: 1,
			Commits: 4, People: 5, Organizations: 3, Newcomers: 3, BusFactor: 2, ElephantFactor: 1,
		},
		{
			Ref: "v2", Before: "v1", Projects: 1,
			Commits: 5, MachineCommits: 1, People: 3, Organizations: 2, Newcomers: 3, BusFactor: 1, ElephantFactor: 1,
			UnaffiliatedCommits: 1,
		},
	}
	if diff := cmp.Diff(want, c.Releases); diff != "" {
		t.Error(diff)
	}
	for name, row := range map[string][2]string{
		"newcomers":          {namesIn(c.Newcomers), "Cid 1/0, Dan 1/0, Eve 1/0"},
		"lost":               {namesIn(c.Lost), "Bob 0/1, Lou 0/1"},
		"people":             {namesIn(c.People), "Ann 1/2, Cid 1/0, Dan 1/0, Eve 1/0, Old 1/0, Bob 0/1, Lou 0/1"},
		"organizations":      {namesIn(c.Organizations), "one.example 2/2, four.example 1/0, three.example 1/0, two.example 0/1"},
		"new organizations":  {namesIn(c.NewOrganizations), "four.example 1/0, three.example 1/0"},
		"lost organizations": {namesIn(c.LostOrganizations), "two.example 0/1"},
		"failed":             {fmt.Sprintf("%d %s", len(c.Failed), c.Failed[0].Project), "1 only-v3"},
	} {
		if row[0] != row[1] {
			t.Errorf("%s: %s, want %s", name, row[0], row[1])
		}
	}
}

// The mailmap of the later release joins addresses in both: nobody is lost and new because a line was added to it.
func TestOneMailmapCountsForBothReleases(t *testing.T) {
	dir := t.TempDir()
	s := newStory(t, dir, "p")
	s.say("master", "Base\n")
	s.repo.Git("tag", "v1", "master")
	s.add("master", gittest.Commit{Author: "Ann <ann@old.example>"})
	s.repo.Git("tag", "v2", "master")
	mailmap := map[string]string{".mailmap": "Ann <ann@new.example> <ann@old.example>\n"}
	s.add("master", gittest.Commit{Author: "Ann <ann@new.example>", Files: mailmap})
	s.repo.Git("tag", "v3", "master")
	q := Question{Kind: AskCompare, Request: between("v3", "v2"), Ref3: "v1"}
	c := newMaker(t, dir).ask(t, q).Answer.(*Comparison)
	if len(c.Lost) != 0 || len(c.Newcomers) != 0 || namesIn(c.People) != "Ann 1/1" {
		t.Errorf("people %s, lost %s, new %s", namesIn(c.People), namesIn(c.Lost), namesIn(c.Newcomers))
	}
}

func TestAComparisonIsCutAndSaysSo(t *testing.T) {
	dir := t.TempDir()
	threeReleases(t, dir, "p")
	m := newMaker(t, dir, "*[bot]")
	q := Question{Kind: AskCompare, Request: between("v3", "v2")}
	q.Request.Limit = 2
	c := m.ask(t, q).Answer.(*Comparison)
	if len(c.People) != 2 || c.Sizes["people"] != 7 || c.Releases[1].Before != "" || c.Releases[1].Commits != 6 {
		t.Errorf("%+v", c)
	}
	var table bytes.Buffer
	if err := c.CSV(&table); err != nil {
		t.Fatal(err)
	}
	for text, wants := range map[string][]string{
		c.Text():       {"v3 beside v2\n", "People (2 of 7)\n", "Bus factor", "chaoss.community"},
		table.String(): {"section,name,email,organization,v3,v2\n", "figure,bus_factor,,,2,2\n", "lost,Bob,bob@two.example,two.example,0,1\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
}

func TestReleasesThatNoProjectHasBoth(t *testing.T) {
	dir := t.TempDir()
	one := newStory(t, dir, "one")
	one.say("master", "x")
	one.repo.Git("tag", "v3", "master")
	one.repo.Git("tag", "v2", "master")
	two := newStory(t, dir, "two")
	two.say("master", "x")
	two.repo.Git("tag", "v2", "master")
	two.repo.Git("tag", "v1", "master")
	_, err := newMaker(t, dir).Plan(t.Context(), Question{Kind: AskCompare, Request: between("v3", "v2"), Ref3: "v1"})
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "no project has both releases: ") {
		t.Errorf("%v", err)
	}
}

func TestNewsNameWhatIsLeftOut(t *testing.T) {
	m := newMaker(t, twoProjects(t))
	n := m.ask(t, Question{Kind: AskNews, Request: between("v2", "v1")}).Answer.(*News)
	if n.Commits != 7 || n.LeftOut != 1 || len(n.Projects) != 2 || len(n.Failed) != 1 {
		t.Fatalf("%d new, %d left out, %d projects, failed %v", n.Commits, n.LeftOut, len(n.Projects), n.Failed)
	}
	a := n.Projects[1]
	if a.Project != "group/a" || a.LeftOut[0].SameAs != a.Base || a.LeftOut[0].Reason != "patch_id" {
		t.Errorf("%+v", a)
	}
	var table bytes.Buffer
	if err := n.CSV(&table); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		table.String(): "\nleft_out,group/a,Picked,",
		n.Text():       "\ngroup/a: left out\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
