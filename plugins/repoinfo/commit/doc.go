// Package commit knows what a commit is: how git log prints it, which commits
// are filtered or skipped, and how one is written as JSON. It does no I/O of its
// own; package history feeds it, package counts supplies the line counts.
package commit
