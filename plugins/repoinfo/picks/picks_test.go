package picks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hashOf makes a hash of one letter.
func hashOf(letter string) string { return strings.Repeat(letter, 40) }

func TestMatchDecidesByTheStrongestReason(t *testing.T) {
	a, b, c, d, e := hashOf("a"), hashOf("b"), hashOf("c"), hashOf("d"), hashOf("e")
	for _, row := range []struct {
		name         string
		ours, theirs []Change
		want         map[string]Same
	}{
		{"nothing in common",
			[]Change{{Hash: a, PatchID: "1"}},
			[]Change{{Hash: b, PatchID: "2"}},
			map[string]Same{}},
		{"ours was picked from theirs",
			[]Change{{Hash: a, PickedFrom: []string{b}}},
			[]Change{{Hash: b}},
			map[string]Same{a: {b, ByPickedFrom}}},
		{"theirs was picked from ours, by a shortened hash",
			[]Change{{Hash: a}},
			[]Change{{Hash: b, PickedFrom: []string{a[:8]}}},
			map[string]Same{a: {b, ByPickedFrom}}},
		{"both were picked from a third one",
			[]Change{{Hash: a, PickedFrom: []string{c}}},
			[]Change{{Hash: b, PickedFrom: []string{c}}},
			map[string]Same{a: {b, ByPickedFrom}}},
		{"a pick of a pick",
			[]Change{{Hash: a, PickedFrom: []string{c, d}}},
			[]Change{{Hash: b, PickedFrom: []string{c}}},
			map[string]Same{a: {b, ByPickedFrom}}},
		{"the same Change-Id",
			[]Change{{Hash: a, ChangeIDs: []string{"I1"}, PatchID: "1"}},
			[]Change{{Hash: b, ChangeIDs: []string{"I1"}, PatchID: "2"}},
			map[string]Same{a: {b, ByChangeID}}},
		{"one of two Change-Ids is missing",
			[]Change{{Hash: a, ChangeIDs: []string{"I1", "I2"}}},
			[]Change{{Hash: b, ChangeIDs: []string{"I1"}}},
			map[string]Same{}},
		{"the same patch",
			[]Change{{Hash: a, PatchID: "1"}},
			[]Change{{Hash: b, PatchID: "1"}},
			map[string]Same{a: {b, ByPatchID}}},
		{"a commit without changes is the same as none",
			[]Change{{Hash: a}},
			[]Change{{Hash: b}},
			map[string]Same{}},
		{"theirs has reverted it",
			[]Change{{Hash: a, ChangeIDs: []string{"I1"}}},
			[]Change{{Hash: c, Reverts: b[:12]}, {Hash: b, ChangeIDs: []string{"I1"}}},
			map[string]Same{}},
		{"theirs has reverted the revert",
			[]Change{{Hash: a, ChangeIDs: []string{"I1"}}},
			[]Change{{Hash: d, Reverts: c}, {Hash: c, Reverts: b}, {Hash: b, ChangeIDs: []string{"I1"}}},
			map[string]Same{a: {b, ByChangeID}}},
		{"a shortened hash that begins two commits",
			[]Change{{Hash: e, PickedFrom: []string{"aaaaaaa"}}},
			[]Change{{Hash: a}, {Hash: "aaaaaaa" + strings.Repeat("f", 33)}},
			map[string]Same{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Match(row.ours, row.theirs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatchRevertedFindsWhatTheirsHad(t *testing.T) {
	a, b, c := hashOf("a"), hashOf("b"), hashOf("c")
	ours := []Change{{Hash: a, ChangeIDs: []string{"I1"}}}
	theirs := []Change{{Hash: c, Reverts: b}, {Hash: b, ChangeIDs: []string{"I1"}}}
	if diff := cmp.Diff(map[string]Same{a: {b, ByChangeID}}, MatchReverted(ours, theirs)); diff != "" {
		t.Error(diff)
	}
	if got := MatchReverted(ours, theirs[1:]); len(got) != 0 {
		t.Errorf("not reverted: %v", got)
	}
}

func TestUndoneKeepsAHashThatIsNotInTheList(t *testing.T) {
	a, b := hashOf("a"), hashOf("b")
	got := Undone([]Change{{Hash: a, Reverts: b[:10]}})
	if diff := cmp.Diff(map[string]string{b[:10]: a}, got); diff != "" {
		t.Error(diff)
	}
}
