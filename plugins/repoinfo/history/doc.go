// Package history lists commits: it resolves references, asks git for the list,
// has package counts fill in the lines, and hands runs of commits on in order
// while git still walks. Memory is bounded by the runs in flight.
//
// Package api turns the runs into answers, package report into totals.
package history
