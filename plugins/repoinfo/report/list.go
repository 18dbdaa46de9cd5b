package report

import (
	"bytes"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/picks"
	"ctl.internal/sdk/fault"
)

// Listed are the commits of one project.
type Listed struct {
	Span
	Commits []Commit          // without merges, the newest first
	Dropped map[string]string // commits that Ref2 has reverted, by hash, with the commit that reverts
}

// Commit is a commit of a list.
type Commit struct {
	Hash      string
	Subject   string
	When      int64    // committed, seconds since the epoch; 0 = no readable date
	Who       []Author // the author and then the co-authors
	Trailers  []commit.Trailer
	ChangeIDs []string
	Fixes     []commit.Fix
	Reverts   string      // the commit that this one undoes, perhaps shortened
	Same      *picks.Same // of Ref2, nil = there is none
	Gone      *picks.Same // of Ref2, which has reverted it, nil = there is none
	Undone    string      // the commit of the list that reverts this one
}

// maxListed bounds the memory of one list.
const maxListed = 200_000

// list notes a commit with what was found out about it.
func (b *builder) list(project string, c *commit.Commit, who []Author, found *picks.Found) error {
	l := b.listed[project]
	if l == nil || c.Parents > 1 {
		return nil
	}
	if len(l.Commits) >= maxListed {
		return fault.New(
			fault.TooBig,
			"project %s has more than %d commits between the references: give closer ones",
			project,
			maxListed,
		)
	}
	hash := string(c.Hash)
	one := Commit{
		Hash:      hash,
		Subject:   stripControls(c.Subject()),
		When:      b.committedAt(c),
		Who:       who,
		ChangeIDs: c.ChangeIDs(),
		Fixes:     c.Fixes(),
		Reverts:   c.Reverts(),
		Undone:    found.Undone[hash],
	}
	for _, t := range commit.Trailers(c.Message) { // the message is part of a larger buffer
		one.Trailers = append(
			one.Trailers,
			commit.Trailer{
				Key:   bytes.Clone(t.Key),
				Value: bytes.Clone(t.Value),
			},
		)
	}
	if same, had := found.Same[hash]; had {
		one.Same = &same
	}
	if gone, had := found.Gone[hash]; had {
		one.Gone = &gone
	}
	l.Commits = append(l.Commits, one)
	return nil
}
