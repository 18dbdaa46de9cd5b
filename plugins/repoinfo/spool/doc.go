// Package spool lets many callers share one answer while it is being made. The
// maker writes to a file without a name; every caller reads at his own pace, so
// a slow one holds up nobody and memory stays flat. Finished answers are kept
// until the room is needed.
//
// It knows nothing of commits. Package counts keeps what is worth keeping over
// a restart.
package spool
