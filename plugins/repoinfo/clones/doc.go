// Package clones owns the folder of repositories: it finds projects in it, says
// what state they are in, and mirrors them from elsewhere.
//
// Reading a repository is package history's; the review server that may name
// the projects to mirror is package review's.
package clones
