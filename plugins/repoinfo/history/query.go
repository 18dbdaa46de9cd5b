// Package history lists commits: it resolves references, has git list the commits, reads
// them, has package counts fill in the lines, and hands runs of commits on in order while
// git still works. Memory is bounded by the runs in flight.
//
// Package api turns the runs into answers, package report into totals.
package history

import (
	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
)

// Merges says whether merge commits are wanted.
type Merges string

// The values of the parameter merges.
const (
	WithMerges Merges = "true"
	NoMerges   Merges = "false"
	OnlyMerges Merges = "only"
)

// Query is a list of commits that is asked for. Tip and Base are hashes and View covers
// what else decides about the list, so an answer to a Query never changes.
type Query struct {
	Tip      string // from here back
	Base     string // down to here, itself excluded; empty = to the roots
	View     string // Repo.View
	Path     string // only commits that touch it
	Simplify bool   // of those, the ones that git's simplified history shows
	Merges   Merges
	Filter   commit.Filter
	Stats    bool // with counts
	Files    bool // with files, which are not kept: each time they are read again
	Renames  bool // detect renames when lines are counted
	Offset   int  // commits of git's list (before the filter) to leave out
	Limit    int  // commits wanted; 0 = all
}

func (q *Query) options() counts.Options { return counts.Options{Renames: q.Renames, View: q.View} }

// args are git's arguments for the list. Dates are not among them: git would stop at the
// first commit with a wrong clock.
func (q *Query) args() []string {
	args := []string{"rev-list"}
	switch q.Merges {
	case NoMerges:
		args = append(args, "--no-merges")
	case OnlyMerges:
		args = append(args, "--merges")
	}
	if q.Path != "" && !q.Simplify {
		args = append(args, "--full-history")
	}
	args = append(args, "--end-of-options", q.Tip)
	if q.Base != "" {
		args = append(args, "^"+q.Base)
	}
	args = append(args, "--")
	if q.Path != "" {
		args = append(args, q.Path)
	}
	return args
}
