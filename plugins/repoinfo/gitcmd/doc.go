// Package gitcmd runs git as a child process: fixed environment, deadline,
// bounded output, and an end that comes no later than the caller's context.
//
// Nothing here knows what the output means: package history reads commits,
// package counts reads line counts, package clones reads references.
package gitcmd
