// Package shell is the shell commands of scope switch, one file each. RPCs are
// package operations.
package shell
