// Package report sums up what happened between two references in one or all
// projects: commits, lines, authors, organizations, time zones, co-authors.
package report
