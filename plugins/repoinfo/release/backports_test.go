package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

// story builds a repository commit by commit, because messages name the hashes of earlier ones.
type story struct {
	t    *testing.T
	repo *gittest.Repo
	when int64
}

func newStory(t *testing.T, dir, project string) *story {
	t.Helper()
	return &story{t: t, repo: gittest.New(t, filepath.Join(dir, project+".git")), when: 1_500_000_000}
}

// add adds a commit to a branch, which changes a file of its own unless files are given, and returns its hash.
func (s *story) add(branch string, c gittest.Commit) string {
	s.t.Helper()
	s.when += 60
	c.When = s.when
	if c.Files == nil {
		c.Files = map[string]string{fmt.Sprint("f", s.when): "x\n"}
	}
	c.Branch = "work"
	var stream gittest.Stream
	head, err := s.repo.TryGit("rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	if err == nil {
		stream.Raw("reset refs/heads/work\nfrom " + strings.TrimSpace(head) + "\n\n")
	} else {
		c.Root = true
	}
	stream.Add(c)
	s.repo.Import(stream.String())
	hash := s.repo.Head("work")
	s.repo.Git("update-ref", "refs/heads/"+branch, hash)
	s.repo.Git("update-ref", "-d", "refs/heads/work")
	return hash
}

func (s *story) say(branch, message string) string {
	return s.add(branch, gittest.Commit{Message: message})
}

// reasonsOf are the reasons of the missed backports, by subject.
func reasonsOf(b *Backports) map[string]string {
	got := map[string]string{}
	for _, p := range b.Projects {
		for _, m := range p.Missed {
			var kinds []string
			for _, r := range m.Reasons {
				kinds = append(kinds, r.Kind)
			}
			got[m.Subject] = strings.Join(kinds, " ")
		}
	}
	return got
}

func TestMissedBackportsHaveTheirReasons(t *testing.T) {
	dir := t.TempDir()
	s := newStory(t, dir, "p")
	id := func(digit string) string { return "Change-Id: I" + strings.Repeat(digit, 40) }
	shared := s.say("master", "Shared")
	dropped := s.say("master", "Shared but dropped")
	s.repo.Git("branch", "stable", "master")
	s.say("stable", "Revert \"Shared but dropped\"\n\nThis reverts commit "+dropped+".\n")

	s.say("master", "Repairs shared\n\nFixes: "+shared[:12]+" (\"Shared\")\n")
	s.say("master", "Repairs dropped\n\nFixes: "+dropped+"\n")
	recent := s.say("master", "Recent")
	s.say("master", "Repairs recent\n\nFixes: "+recent+"\n")
	picked := s.say("master", "Picked\n\n"+id("1")+"\n")
	s.say("stable", "Picked\n\n"+id("1")+"\n")
	s.say("master", "Repairs picked\n\nFixes: "+picked+"\n")
	s.say("master", "Reverts shared\n\nThis reverts commit "+shared+".\n")
	done := s.say("master", "Repairs shared, backported\n\nFixes: "+shared+"\n")
	s.say("stable", "Repairs shared, backported\n\n(cherry picked from commit "+done+")\n")
	wrong := s.say("master", "Repairs shared wrongly\n\nFixes: "+shared+"\n")
	s.say("master", "Revert \"Repairs shared wrongly\"\n\nThis reverts commit "+wrong+".\n")
	first := s.say("master", "Repairs shared in part\n\nFixes: "+shared+"\n")
	s.say("master", "Repairs the repair\n\nFixes: "+first+"\n")
	s.say("master", "Under review\n\n"+id("2")+"\n")
	s.say("master", "Bug number\n\nFixes: #123\nFixes: 0123456789ab\n")
	again := s.say("master", "Backported and reverted\n\nFixes: "+shared+"\n"+id("3")+"\n")
	backport := s.say("stable", "Backported and reverted\n\n"+id("3")+"\n")
	s.say("stable", "Revert\n\nThis reverts commit "+backport+".\n")

	m := newMaker(t, dir)
	m.Links = Links{Commit: "https://git.example.org/{project}/{hash}", Change: "https://review.example.org/q/{change_id}"}
	m.OpenChanges = func(_ context.Context, project, branch string) ([]OpenChange, error) {
		if project != "p" || branch != "stable" {
			t.Errorf("asked for %s %s", project, branch)
		}
		return []OpenChange{{Number: 42, ChangeID: "I" + strings.Repeat("2", 40)}}, nil
	}
	made := m.ask(t, Question{Kind: AskBackports, Request: between("", "stable")})
	b := made.Answer.(*Backports)
	want := map[string]string{
		"Repairs shared":          FixesPresent,
		"Repairs picked":          FixesPresent,
		"Reverts shared":          RevertsPresent,
		"Repairs shared in part":  FixesPresent,
		"Repairs the repair":      FixesMissed,
		"Under review":            ChangeIsOpen,
		"Backported and reverted": FixesPresent,
	}
	if diff := cmp.Diff(want, reasonsOf(b)); diff != "" {
		t.Error(diff)
	}
	if !made.Whole || b.Missed != len(want) || b.Projects[0].Review != reviewAsked {
		t.Errorf("%v, %d missed, review %s", made.Whole, b.Missed, b.Projects[0].Review)
	}
	texts := map[string]string{
		"Repairs shared": "fixes " + shared[:12] + ` ("Shared"), which stable has`,
		"Under review":   "change 42 with its Change-Id is open on stable",
		"Backported and reverted": "fixes " + shared[:12] + ", which stable has; the branch had it as " + backport[:12] +
			" and reverted it in " + s.repo.Head("stable")[:12],
	}
	for _, missed := range b.Projects[0].Missed {
		if want := texts[missed.Subject]; want != "" && missed.ReasonText() != want {
			t.Errorf("%s: %s, want %s", missed.Subject, missed.ReasonText(), want)
		}
		if missed.Hash == again && missed.URL != "https://git.example.org/p/"+again {
			t.Errorf("link %s", missed.URL)
		}
		if missed.Subject == "Under review" && missed.Reasons[0].URL != "https://review.example.org/q/"+missed.ChangeID {
			t.Errorf("link %s", missed.Reasons[0].URL)
		}
	}
}

func TestAReviewServerThatFailsIsNamed(t *testing.T) {
	dir := t.TempDir()
	s := newStory(t, dir, "p")
	shared := s.say("master", "Shared")
	s.repo.Git("branch", "stable", "master")
	s.say("master", "Repairs shared\n\nFixes: "+shared+"\n")
	m := newMaker(t, dir)
	for _, row := range []struct {
		ask    func(context.Context, string, string) ([]OpenChange, error)
		review string
		whole  bool
	}{
		{nil, noReview, true},
		{func(context.Context, string, string) ([]OpenChange, error) {
			return nil, fault.Device(fault.Downstream, "the review server answered 500")
		}, "failed: the review server answered 500", false},
		{func(context.Context, string, string) ([]OpenChange, error) {
			return nil, errors.New("broken")
		}, "failed: broken", false},
	} {
		m.OpenChanges = row.ask
		made := m.ask(t, Question{Kind: AskBackports, Request: between("master", "refs/heads/stable")})
		b := made.Answer.(*Backports)
		if b.Missed != 1 || b.Projects[0].Review != row.review || made.Whole != row.whole {
			t.Errorf("%d missed, review %q, whole %v; want %+v", b.Missed, b.Projects[0].Review, made.Whole, row)
		}
	}
}

func TestFixesNameCommitsInOtherWaysThanByAHash(t *testing.T) {
	dir := t.TempDir()
	s := newStory(t, dir, "p")
	s.say("master", "Shared\n")
	one, two := s.say("master", "Twice\n"), s.say("master", "Twice\n")
	s.repo.Git("branch", "stable", "master")
	s.say("stable", "Only on stable\n")
	s.say("master", "Recent\n")
	for subject, trailer := range map[string]string{
		"By subject":          `"Shared"`,
		"By subject and hash": `fedcba9876 ("Shared")`, // of a clone that was rebased
		"By a short hash":     one[:5] + ` ("Twice")`,
		"By another branch":   `("Only  on stable")`,
		"Ambiguous":           `"Twice"`,
		"Of a recent one":     `"Recent"`,
		"Of none":             `"No such subject"`,
		"Names itself":        `"Names itself"`,
		"Names a later one":   `"Later"`,
		"Names no hash":       `fedcba9876`,
	} {
		s.say("master", subject+"\n\nFixes: "+trailer+"\n")
	}
	s.say("master", "Later\n")
	m := newMaker(t, dir)
	b := m.ask(t, Question{Kind: AskBackports, Request: between("", "stable")}).Answer.(*Backports)
	want := map[string]string{
		"By subject":          FixesPresent,
		"By subject and hash": FixesPresent,
		"By a short hash":     FixesPresent,
		"By another branch":   FixesPresent,
		"Ambiguous":           FixesAmbiguous,
	}
	if diff := cmp.Diff(want, reasonsOf(b)); diff != "" {
		t.Error(diff)
	}
	for _, missed := range b.Projects[0].Missed {
		switch r := missed.Reasons[0]; missed.Subject {
		case "By a short hash":
			if r.Commit != one {
				t.Errorf("%s is not %s", r.Commit, one)
			}
		case "Ambiguous":
			has := two[:12] + ", " + one[:12]
			text := `fixes "Twice", which may be each of 2 commits (` + has + "); stable has " + has
			if r.Text != text || !cmp.Equal(r.Among, []string{two, one}) {
				t.Errorf("%q of %v, want %q", r.Text, r.Among, text)
			}
		}
	}
}

// A hash of fewer than 7 digits begins the hashes of unrelated commits, too: it counts with its subject only.
func TestAShortHashDoesNotNameACommitByItself(t *testing.T) {
	dir := t.TempDir()
	s := newStory(t, dir, "p")
	shared := s.say("master", "Shared\n")
	other := s.say("master", "Other\n")
	s.repo.Git("branch", "stable", "master")
	late := s.say("master", "Late\n")
	s.say("master", "Hash of another\n\nFixes: "+other[:4]+" (\"Shared\")\n")
	s.say("master", "Hash of a recent one\n\nFixes: "+late[:6]+" (\"Shared\")\n")
	s.say("master", "Recent\n\nFixes: "+late[:4]+" (\"Late\")\n")
	s.say("master", "No such subject\n\nFixes: "+other[:6]+" (\"Absent\")\n")
	m := newMaker(t, dir)
	b := m.ask(t, Question{Kind: AskBackports, Request: between("", "stable")}).Answer.(*Backports)
	want := map[string]string{"Hash of another": FixesPresent, "Hash of a recent one": FixesPresent}
	if diff := cmp.Diff(want, reasonsOf(b)); diff != "" {
		t.Error(diff)
	}
	for _, missed := range b.Projects[0].Missed {
		if r := missed.Reasons[0]; r.Commit != shared {
			t.Errorf("%s: %s is not %s", missed.Subject, r.Commit, shared)
		}
	}
}
