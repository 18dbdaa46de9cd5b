package commit

import "bytes"

// Filter says which commits a caller wants. Empty members let everything pass.
type Filter struct {
	Author       string // e-mail address, case ignored
	Organization string // what follows the first "@" of it, case ignored
	Skip         bool   // leave out the commits the review server made by itself
}

// Keep reports whether the filter lets a commit pass.
func (f Filter) Keep(c *Commit) bool {
	if f.Author != "" && !bytes.EqualFold(c.AuthorEmail, []byte(f.Author)) {
		return false
	}
	if f.Organization != "" && !bytes.EqualFold(Organization(c.AuthorEmail), []byte(f.Organization)) {
		return false
	}
	return !f.Skip || !c.mechanical()
}

// Organization is the part of an e-mail address after its first "@".
func Organization(email []byte) []byte {
	if _, domain, ok := bytes.Cut(email, []byte{'@'}); ok {
		return domain
	}
	return nil
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
	if !bytes.Equal(c.Committer, reviewServer) {
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
