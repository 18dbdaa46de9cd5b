package commit

import "bytes"

// Filter says which commits a caller wants. Zero members let everything pass.
type Filter struct {
	Author       string // e-mail address, case ignored
	Organization string // what follows the first "@" of it, case ignored
	Skip         bool   // leave out the commits the review server made by itself
	Since        int64  // committed at or after, seconds since the epoch
	Until        int64  // committed at or before
}

// Keep reports whether the filter lets a commit pass. Dates are compared here and not
// by git, which ends its walk at the first old commit and so loses what lies beyond one
// with a wrong clock.
func (f *Filter) Keep(c *Commit) bool {
	if f.Author != "" && !bytes.EqualFold(c.Author.Email, []byte(f.Author)) {
		return false
	}
	if f.Organization != "" && !bytes.EqualFold(Domain(c.Author.Email), []byte(f.Organization)) {
		return false
	}
	if !f.During(c.Committer.When) {
		return false
	}
	return !f.Skip || !c.mechanical()
}

// During reports whether a time lies between Since and Until.
func (f *Filter) During(when int64) bool {
	return (f.Since == 0 || when >= f.Since) && (f.Until == 0 || when <= f.Until)
}

// Domain is the part of an e-mail address after its first "@".
func Domain(email []byte) []byte {
	_, domain, _ := bytes.Cut(email, []byte{'@'})
	return domain
}

var (
	reviewServer = []byte("Gerrit Code Review")
	mergeText    = []byte(`Merge "`)
	updatedText  = []byte("Updated ")
	projectText  = []byte("\nProject:")
	modulesText  = []byte("Updated git submodules\n\nProject:")
)

// mechanical reports whether the review server made the commit by itself: the
// merge of a change, or the update of a submodule, whose author would be counted
// in every project that contains it.
func (c *Commit) mechanical() bool {
	if !bytes.Equal(c.Committer.Name, reviewServer) {
		return false
	}
	if bytes.HasPrefix(c.Message, mergeText) || bytes.HasPrefix(c.Message, modulesText) {
		return true
	}
	rest, ok := bytes.CutPrefix(c.Message, updatedText)
	if !ok {
		return false
	}
	end := bytes.IndexByte(rest, '\n')
	return end > 0 && bytes.HasPrefix(rest[end:], projectText)
}
