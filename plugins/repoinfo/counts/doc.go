// Package counts knows how many lines each commit changed. It asks git once per
// commit and keeps the answer on disk, keyed by the commit's hash and by the
// options that influence it; both never change, so nothing is ever invalidated.
//
// Package history walks commits and asks this one; answers as a whole are kept
// by package spool.
package counts
