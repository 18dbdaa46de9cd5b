package history

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
)

// seen is a commit that a search is shown.
type seen struct{ hash, subject string }

func fullHash(begin string) string { return begin + strings.Repeat("0", 40-len(begin)) }

func TestNamesOfCommits(t *testing.T) {
	by := fullHash("b")
	one, two, other := fullHash("aaaaaaa1"), fullHash("aaaaaaa2"), fullHash("cccccccc")
	history := []seen{{fullHash("9"), "Later"}, {by, "Names"}, {two, "Two"}, {one, "One"}, {other, "Two"}}
	for _, c := range []struct {
		hash, subject string
		want          []string
	}{
		{"aaaaaaa", "", []string{two, one}},
		{"aaaaaaa", "One", []string{one}}, // both count more than one of them
		{"aaaaaaa", "Other", []string{two, one}},
		{"", "Two", []string{two, other}},
		{"", " Two ", []string{two, other}},
		{"cccc", "Two", []string{other}},
		{"aaaa", "One", []string{one}},
		{"cccc", "One", []string{one}}, // a short hash counts with its subject only
		{"cccc", "None", nil},
		{"cccc", "Later", nil},
		{"dddddddd", "One", []string{one}},
	} {
		name := Named{By: by, Hash: c.hash, Subject: c.subject}
		s := newNameSearch([]Named{name}, nil)
		for _, x := range history {
			s.see(x.hash, x.subject)
		}
		found := map[Named][]string{}
		s.closeFound(found)
		if diff := cmp.Diff(c.want, found[name]); diff != "" {
			t.Errorf("%+v: %s", name, diff)
		}
		if (s.left == 0) != (c.want != nil) {
			t.Errorf("%+v: the search goes on for %d names", name, s.left)
		}
	}
}

// What a name may mean is bounded, and the search ends when nothing more counts.
func TestASearchForNamesIsBounded(t *testing.T) {
	by := fullHash("b")
	both := Named{By: by, Hash: "aaaa", Subject: "One"}
	often := Named{By: by, Subject: "Often"}
	s := newNameSearch([]Named{both, often, often}, nil)
	s.see(by, "Names")
	s.see(fullHash("aaaaa"), "One")
	for i := range maxMatches {
		if s.left != 1 {
			t.Fatalf("the search goes on for %d names after %d commits", s.left, i)
		}
		s.see(fullHash(fmt.Sprintf("%08x", i)), "Often")
	}
	if s.left != 0 {
		t.Errorf("the search goes on for %d names", s.left)
	}
	s.see(fullHash("f"), "Often")
	found := map[Named][]string{}
	s.closeFound(found)
	if len(found[often]) != maxMatches || s.left != 0 {
		t.Errorf("%d commits", len(found[often]))
	}
}

// A commit is compared with the names alone that begin like its hash.
func TestNamesAreFoundByTheirFirstDigits(t *testing.T) {
	var wanted []Named
	for i := range 1000 {
		wanted = append(wanted, Named{By: fullHash("b"), Hash: fmt.Sprintf("%04xabc", i)})
	}
	s := newNameSearch(wanted, map[string]bool{wanted[7].Hash: true})
	if len(s.byHash) != len(wanted)-1 {
		t.Errorf("%d names are in %d groups", len(wanted)-1, len(s.byHash))
	}
}

func TestWhatNoCommitHasIsNotSearched(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 3)
	r := Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}
	wanted := []Named{
		{By: g.Head("master"), Hash: "fedcba9876"},
		{By: g.Head("master"), Hash: "fedcba98"},
	}
	// A walk from a tip that does not exist fails.
	found, err := r.FindNamed(t.Context(), fullHash("1"), fullHash("1"), wanted)
	if err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	wanted = append(wanted, Named{By: g.Head("master"), Hash: g.Head("master~1")[:8]})
	found, err = r.FindNamed(t.Context(), g.Head("master"), g.Head("master"), wanted)
	want := map[Named][]string{wanted[2]: {g.Head("master~1")}}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
