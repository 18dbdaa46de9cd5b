// Package review asks a code-review server (Gerrit's REST API) for projects,
// branches, tags and merged changes, and passes its objects on as
// received; the only member added is submittable, which the server leaves out where it is false.
package review
