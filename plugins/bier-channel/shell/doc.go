// Package shell is the shell commands of channels, one file each. RPCs are package
// operations.
package shell
