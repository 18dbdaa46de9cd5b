// Package meta reads what a project says of itself: PROJECT_INFO.yaml, or the
// INFO.yaml that took its place. The file may come from anybody who can push, so
// anchors, depth and size are bounded.
package meta
