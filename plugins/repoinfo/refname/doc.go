// Package refname says which names of projects, references and paths are let
// through to the file system, to git and to the review server. It decides only;
// package clones looks projects up and package history looks references up.
package refname
