// Package shell is the shell commands of topologies, one file each. RPCs are
// package operations.
package shell
