package release

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/people"
)

// byGit computes figures of a release from what git log prints, without the code that is tested.
type byGit struct {
	repo      *gittest.Repo
	directory *people.Directory
	mailmap   string // setting of git
	known     map[string]string
}

// person is the address that git's mailmap gives to a name and an address.
func (g *byGit) person(contact string) string {
	if g.known[contact] == "" {
		mapped := g.repo.Git("-c", g.mailmap, "check-mailmap", contact)
		_, address, _ := strings.Cut(strings.TrimSpace(mapped), "<")
		g.known[contact] = strings.ToLower(strings.TrimSuffix(address, ">"))
	}
	return g.known[contact]
}

// gitCommit is a commit as git log prints it.
type gitCommit struct {
	hash, author string
	when         int64
	others       []string // addresses of co-authors
}

// list reads the commits of a range.
func (g *byGit) list(more ...string) []gitCommit {
	format := "--format=%H%x00%aE%x00%at%x00%(trailers:key=Co-authored-by,key=Also-by,valueonly,unfold,separator=%x01)"
	var list []gitCommit
	for line := range strings.Lines(g.repo.Git(append([]string{"-c", g.mailmap, "log", format}, more...)...)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		c := gitCommit{hash: f[0], author: strings.ToLower(f[1])}
		_, _ = fmt.Sscan(f[2], &c.when)
		for _, value := range strings.Split(f[3], "\x01") {
			name, address, _ := strings.Cut(value, "<")
			address, _, _ = strings.Cut(address, ">") // some end without it
			if strings.Contains(address, "@") {
				c.others = append(c.others, g.person(name+"<"+strings.TrimSpace(address)+">"))
			}
		}
		list = append(list, c)
	}
	return list
}

// side computes the figures of one release; picked are the commits that are left out.
func (g *byGit) side(ref, before string, picked map[string]bool) (Side, map[string]bool) {
	s := Side{Ref: ref, Before: before, Projects: 1}
	persons, byAuthor, byEmployer, employers := map[string]bool{}, map[string]int{}, map[string]int{}, map[string]bool{}
	for _, c := range g.list("--no-merges", ref, "^"+before) {
		if picked[c.hash] {
			s.Picked++
			continue
		}
		s.Commits++
		byAuthor[c.author]++
		organization := g.directory.Organization(c.author, c.when)
		if organization == people.Unaffiliated {
			s.UnaffiliatedCommits++
		} else {
			byEmployer[organization]++
		}
		for _, address := range append([]string{c.author}, c.others...) {
			persons[address] = true
			if o := g.directory.Organization(address, c.when); o != people.Unaffiliated {
				employers[o] = true
			}
		}
	}
	earlier := map[string]bool{}
	for _, c := range g.list(before) {
		for _, address := range append([]string{c.author}, c.others...) {
			earlier[address] = true
		}
	}
	for address := range persons {
		if !earlier[address] {
			s.Newcomers++
		}
	}
	s.People, s.Organizations = len(persons), len(employers)
	s.BusFactor, s.ElephantFactor = half(byAuthor), half(byEmployer)
	return s, persons
}

// half counts down from the largest number until half of the sum is reached.
func half(counts map[string]int) int {
	numbers := slices.SortedFunc(maps.Values(counts), func(x, y int) int { return cmp.Compare(y, x) })
	rest := 0
	for _, n := range numbers {
		rest += n
	}
	total := rest
	n := 0
	for float64(rest) > float64(total)/2 {
		rest -= numbers[n]
		n++
	}
	return n
}

// realReleases are three releases of real repositories, the latest first.
var realReleases = []struct {
	project string
	refs    [3]string
}{
	{"ovs", [3]string{"branch-2.17", "branch-2.16", "branch-2.15"}},
	{"aaa", [3]string{"0.20.x", "0.19.x", "0.18.x"}},
	{"mdsal", [3]string{"14.0.x", "13.0.x", "12.0.x"}},
}

func TestRealReleasesAgreeWithGit(t *testing.T) {
	clones := os.Getenv("REPOINFO_CLONES")
	if clones == "" {
		t.Skip("SKIPPED, NOT TESTED: the peer, real repositories, is not here: REPOINFO_CLONES names no directory with bare clones of " +
			"opendaylight/aaa, opendaylight/mdsal and openvswitch/ovs as aaa.git, mdsal.git and ovs.git")
	}
	m := newMaker(t, clones)
	for _, row := range realReleases {
		t.Run(row.project, func(t *testing.T) {
			g := &byGit{
				repo:      gittest.Open(t, filepath.Join(clones, row.project+".git")),
				directory: m.Reports.People,
				mailmap:   "mailmap.blob=" + row.refs[0] + ":.mailmap",
				known:     map[string]string{},
			}
			compareReal(t, m, g, row.project, row.refs)
		})
	}
}

func compareReal(t *testing.T, m *Maker, g *byGit, project string, refs [3]string) {
	t.Helper()
	q := Question{Kind: AskCompare, Request: between(refs[0], refs[1]), Ref3: refs[2]}
	q.Request.Projects, q.Request.Filter.Skip = []string{project}, false
	c := m.ask(t, q).Answer.(*Comparison)
	picked := func(ref1, ref2 string) map[string]bool {
		q := Question{Kind: AskNews, Request: between(ref1, ref2)}
		q.Request.Projects, q.Request.Filter.Skip = []string{project}, false
		left := map[string]bool{}
		for _, p := range m.ask(t, q).Answer.(*News).Projects[0].LeftOut {
			left[p.Hash] = true
		}
		return left
	}
	later, laterPeople := g.side(refs[0], refs[1], picked(refs[0], refs[1]))
	earlier, earlierPeople := g.side(refs[1], refs[2], picked(refs[1], refs[2]))
	for i := range c.Releases {
		c.Releases[i].First, c.Releases[i].Last = 0, 0
	}
	if diff := gocmp.Diff([2]Side{later, earlier}, c.Releases); diff != "" {
		t.Errorf("- git, + here: %s", diff)
	}
	lost := 0
	for address := range earlierPeople {
		if !laterPeople[address] {
			lost++
		}
	}
	if lost != len(c.Lost) {
		t.Errorf("%d are lost, %d by git", len(c.Lost), lost)
	}
	t.Logf("%+v, %d lost", c.Releases, lost)
}

// fixedBy are the commits that a branch needs by the trailers Fixes, with a question to git for each: the branch
// has the commit that is repaired and has not reverted it.
func fixedBy(g *byGit, ref, branch string, skip map[string]bool) map[string]bool {
	needed := map[string]bool{}
	format := "--format=%H%x00%(trailers:key=Fixes,valueonly,unfold,separator=%x01)"
	for line := range strings.Lines(g.repo.Git("log", "--no-merges", format, ref, "^"+branch)) {
		hash, values, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		for value := range strings.SplitSeq(values, "\x01") {
			value = strings.TrimPrefix(value, "commit ")
			word := value[:len(value)-len(strings.TrimLeft(value, "0123456789abcdef"))]
			if skip[hash] || len(word) < 7 {
				continue
			}
			if _, err := g.repo.TryGit("merge-base", "--is-ancestor", word, branch); err == nil {
				needed[hash] = true
			}
		}
	}
	return needed
}

// Of the missed backports of real branches, those whose repaired commit is in the history of the branch are those
// that git finds one by one.
func TestRealBackportsAgreeWithGit(t *testing.T) {
	clones := os.Getenv("REPOINFO_CLONES")
	if clones == "" {
		t.Skip("SKIPPED, NOT TESTED: the peer, real repositories, is not here: REPOINFO_CLONES names no directory with a bare clone of " +
			"openvswitch/ovs as ovs.git")
	}
	m := newMaker(t, clones)
	g := &byGit{repo: gittest.Open(t, filepath.Join(clones, "ovs.git"))}
	for _, row := range [][2]string{{"branch-2.17", "branch-2.16"}, {"branch-3.1", "branch-3.0"}} {
		q := Question{Kind: AskNews, Request: between(row[0], row[1])}
		q.Request.Projects, q.Request.Filter.Skip = []string{"ovs"}, false
		skip := map[string]bool{}
		news := m.ask(t, q).Answer.(*News).Projects[0]
		for _, p := range news.LeftOut {
			skip[p.Hash] = true
		}
		for _, e := range news.Commits {
			if e.Undone != "" {
				skip[e.Hash] = true
			}
		}
		q.Kind = AskBackports
		here := map[string]bool{}
		missed := m.ask(t, q).Answer.(*Backports).Projects[0].Missed
		for _, one := range missed {
			for _, reason := range one.Reasons {
				if reason.Kind == FixesPresent && reason.As == "" {
					here[one.Hash] = true
				}
			}
		}
		if diff := gocmp.Diff(fixedBy(g, row[0], row[1], skip), here); diff != "" {
			t.Errorf("%s: - git, + here: %s", row, diff)
		}
		t.Logf("%s: %d missed, %d of them repair a commit that the branch has", row, len(missed), len(here))
	}
}

// The notes of a real release have each commit that git lists, and name as first contributors those who are in no
// commit before.
func TestRealNotesAgreeWithGit(t *testing.T) {
	clones := os.Getenv("REPOINFO_CLONES")
	if clones == "" {
		t.Skip("SKIPPED, NOT TESTED: the peer, real repositories, is not here: REPOINFO_CLONES names no directory with bare clones of " +
			"opendaylight/aaa, opendaylight/mdsal and openvswitch/ovs as aaa.git, mdsal.git and ovs.git")
	}
	m := newMaker(t, clones)
	for _, row := range realReleases {
		q := Question{Kind: AskNotes, Request: between(row.refs[0], row.refs[1])}
		q.Request.Projects, q.Request.Filter.Skip = []string{row.project}, false
		n := m.ask(t, q).Answer.(*Notes)
		g := &byGit{
			repo:    gittest.Open(t, filepath.Join(clones, row.project+".git")),
			mailmap: "mailmap.blob=" + row.refs[0] + ":.mailmap",
			known:   map[string]string{},
		}
		commits := len(g.list("--no-merges", row.refs[0], "^"+row.refs[1]))
		if n.Commits+n.LeftOut+n.Reverted != commits {
			t.Errorf("%s: %d + %d + %d commits, %d by git", row.project, n.Commits, n.LeftOut, n.Reverted, commits)
		}
		earlier := map[string]bool{}
		for _, c := range g.list(row.refs[1]) {
			for _, address := range append([]string{c.author}, c.others...) {
				earlier[address] = true
			}
		}
		firsts := map[string]bool{}
		for _, f := range n.First {
			firsts[f.Email] = true
		}
		for _, p := range n.People {
			if firsts[p.Email] == earlier[p.Email] {
				t.Errorf("%s: %s is first %v, in git before %v", row.project, p.Email, firsts[p.Email], earlier[p.Email])
			}
		}
		t.Logf("%s: %d commits, %d left out, %d reverted, %d people, %d first contributions", row.project, n.Commits,
			n.LeftOut, n.Reverted, len(n.People), len(n.First))
	}
}
