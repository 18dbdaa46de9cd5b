// Package review asks a code-review server (Gerrit's REST API) for projects,
// branches, tags and merged changes, and passes its objects on as received.
//
// What lies in clones is package history's.
package review
