package history

import (
	"math"
	"strconv"

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

// Query is a list of commits that is asked for. Tip and Base are hashes, so an
// answer to a Query never changes.
type Query struct {
	Tip    string // from here back
	Base   string // down to here, itself excluded; empty = to the roots
	Filter commit.Filter
	Since  int64 // committed at or after, seconds since the epoch; 0 = any
	Until  int64 // committed at or before; 0 = any
	Path   string
	Merges Merges
	Stats  bool
	Lines  counts.Options
	Offset int // commits of git's list (before filters) to leave out
	Limit  int // commits wanted; 0 = all
}

// args are git's arguments for the list.
func (q *Query) args() []string {
	args := []string{"log", "-z", commit.Format, "--date=raw", "--encoding=UTF-8", "--no-color", "--no-decorate",
		"--no-notes", "--no-show-signature", "--no-mailmap", "--no-follow"}
	switch q.Merges {
	case NoMerges:
		args = append(args, "--no-merges")
	case OnlyMerges:
		args = append(args, "--merges")
	}
	if q.Since != 0 && q.Since <= gitTime {
		args = append(args, "--max-age="+strconv.FormatInt(q.Since, 10))
	}
	if q.Until != 0 && q.Until <= gitTime {
		args = append(args, "--min-age="+strconv.FormatInt(q.Until, 10))
	}
	if q.Offset > 0 {
		args = append(args, "--skip="+strconv.Itoa(q.Offset))
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

// gitTime is the last second that git's own limits of time know; git 2.39 reads
// them as 32-bit numbers and would take a later one for an early one.
const gitTime = math.MaxInt32

// keep is the part of the query that git does not do.
func (q *Query) keep(c *commit.Commit) bool {
	if q.Since > gitTime || q.Until > gitTime {
		when, _ := commit.When(c.CommitterDate)
		if (q.Since > gitTime && when < q.Since) || (q.Until > gitTime && when > q.Until) {
			return false
		}
	}
	return q.Filter.Keep(c)
}
