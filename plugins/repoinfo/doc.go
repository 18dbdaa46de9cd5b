// Command repoinfo is the plugin that answers questions about repositories: a
// read-only HTTP API over a code-review server and over git clones.
//
// The way of a request: api reads it, clones finds the project, history asks git
// for the commits, counts adds the lines, spool shares the answer. The other
// rooms: review (the review server), meta (a project's own description), syncer
// (mirroring), report (sums), settings, and service, which puts them together.
package main
