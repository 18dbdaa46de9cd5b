// Package syncer decides when clones are mirrored and counted: all sources in
// parallel, at an interval or on command, one failing project never harming the
// others. The work on one project is package clones' and package history's.
package syncer
