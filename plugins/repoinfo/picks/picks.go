// Package picks finds out which commits of two branches are the same change: one that was picked from the other, or
// that both branches got by review or by hand. Of each branch only the commits count that the other one does not
// have.
//
// Match decides; find.go and patch.go read what it decides by.
package picks

import (
	"sort"
	"strings"
)

// Reason is by what two commits are the same change.
type Reason string

// Reasons, the strongest first.
const (
	ByPickedFrom Reason = "picked_from" // one says that it was picked from the other, or both from the same one
	ByChangeID   Reason = "change_id"   // the review server gave both the same identifier
	ByPatchID    Reason = "patch_id"    // both change the same lines, blanks and line numbers aside
)

// Change is a commit with all that says which change it is.
type Change struct {
	Hash       string
	ChangeIDs  []string
	PickedFrom []string // hashes, perhaps shortened
	Reverts    string   // the commit that this one undoes, perhaps shortened
	PatchID    string   // empty = it changes nothing, or was not looked at
}

// Same is a commit of the other branch that is the same change.
type Same struct {
	Hash   string `json:"hash"`
	Reason Reason `json:"reason"`
}

// Undone are the commits that others of a list revert, by their hashes or by the beginnings of them, with the commit
// that reverts. A revert that is itself reverted undoes nothing. The list begins with the newest commit.
func Undone(list []Change) map[string]string {
	undone := map[string]string{}
	hashes := newIndex(list)
	for _, c := range list {
		if c.Reverts == "" || undone[c.Hash] != "" {
			continue
		}
		target := c.Reverts
		if full := hashes.full(target); full != "" {
			target = full
		}
		if undone[target] == "" {
			undone[target] = c.Hash
		}
	}
	return undone
}

// Match returns, for each commit of ours that theirs has too, the commit of theirs. What theirs has and has reverted
// does not count. Both lists begin with the newest commit.
func Match(ours, theirs []Change) map[string]Same {
	undone := Undone(theirs)
	kept := make([]Change, 0, len(theirs))
	for _, c := range theirs {
		if undone[c.Hash] == "" {
			kept = append(kept, c)
		}
	}
	return matchChanges(ours, kept)
}

// MatchReverted returns, for each commit of ours that theirs had and has reverted, the commit that theirs had.
func MatchReverted(ours, theirs []Change) map[string]Same {
	undone := Undone(theirs)
	var gone []Change
	for _, c := range theirs {
		if undone[c.Hash] != "" {
			gone = append(gone, c)
		}
	}
	return matchChanges(ours, gone)
}

// matchChanges finds the commits of ours that are the same change as one of theirs.
func matchChanges(ours, theirs []Change) map[string]Same {
	known := indexMarks(theirs, newIndex(ours))
	same := map[string]Same{}
	for _, c := range ours {
		if match, found := known.find(c); found {
			same[c.Hash] = match
		}
	}
	return same
}

// marks are the commits of one list by all that says which change they are.
type marks struct {
	hashes    index
	origins   map[string]string // by the commit that something was picked from
	changeIDs map[string]string
	patches   map[string]string
}

// indexMarks reads the marks of a list. Shortened hashes of the other list are completed.
func indexMarks(list []Change, other index) *marks {
	m := &marks{
		hashes:    newIndex(list),
		origins:   map[string]string{},
		changeIDs: map[string]string{},
		patches:   map[string]string{},
	}
	for _, c := range list {
		for _, from := range c.PickedFrom {
			if full := other.full(from); full != "" {
				from = full
			}
			keepFirst(m.origins, from, c.Hash)
		}
		for _, id := range c.ChangeIDs {
			keepFirst(m.changeIDs, id, c.Hash)
		}
		keepFirst(m.patches, c.PatchID, c.Hash)
	}
	return m
}

func keepFirst(m map[string]string, key, hash string) {
	if _, known := m[key]; !known && key != "" {
		m[key] = hash
	}
}

// find returns the commit that is the same change as c, by the strongest reason.
func (m *marks) find(c Change) (Same, bool) {
	if hash := pickedFrom(c, m.hashes, m.origins); hash != "" {
		return Same{hash, ByPickedFrom}, true
	}
	if hash := ofChangeIDs(c, m.changeIDs); hash != "" {
		return Same{hash, ByChangeID}, true
	}
	if hash := m.patches[c.PatchID]; hash != "" {
		return Same{hash, ByPatchID}, true
	}
	return Same{}, false
}

// pickedFrom is the commit of the other list that a commit was picked from, that was picked from it, or that was picked
// from the same one.
func pickedFrom(c Change, other index, origin map[string]string) string {
	if hash := origin[c.Hash]; hash != "" {
		return hash
	}
	for _, from := range c.PickedFrom {
		if hash := other.full(from); hash != "" {
			return hash
		}
		if hash := origin[from]; hash != "" {
			return hash
		}
	}
	return ""
}

// ofChangeIDs is the commit of the other list with the last identifier of a commit, if the other list has all of them:
// a commit that joins two changes is there only if both are.
func ofChangeIDs(c Change, changeIDs map[string]string) (hash string) {
	for _, id := range c.ChangeIDs {
		if hash = changeIDs[id]; hash == "" {
			return ""
		}
	}
	return hash
}

// index finds commits by the beginnings of their hashes.
type index []string

func newIndex(list []Change) index {
	x := make(index, 0, len(list))
	for _, c := range list {
		x = append(x, c.Hash)
	}
	sort.Strings(x)
	return x
}

// full is the only hash that begins so, empty if there is none or there are several.
func (x index) full(prefix string) string {
	if prefix == "" {
		return ""
	}
	at := sort.SearchStrings(x, prefix)
	if at == len(x) || !strings.HasPrefix(x[at], prefix) {
		return ""
	}
	if at+1 < len(x) && strings.HasPrefix(x[at+1], prefix) && x[at] != prefix {
		return ""
	}
	return x[at]
}
